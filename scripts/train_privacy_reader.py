"""Trains the learned reader of the privacy guard and writes its weights; offline, always the same.

    python scripts/train_privacy_reader.py            # writes the weights
    python scripts/train_privacy_reader.py --check    # leaves out one list after the other

The check is the figure to steer by: rows of one list are alike, so leaving out random rows would
flatter the reader.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))

from privacy_texts import corpus

from purple_agent.privacy.disguise import readings
from purple_agent.privacy.features import Instance, instances
from purple_agent.privacy.reader import WEIGHTS, Reader
from purple_agent.privacy.sentence import read

TARGET = Path(__file__).parents[1] / "purple_agent" / "privacy" / WEIGHTS
SEED = 7
THRESHOLD = 1700
"""Chosen so that at most one of 100 requests is refused; see `--check`."""
FILLED_WEIGHT = 0.4
"""What a text filled from a frame counts, against one that was written."""
BENIGN_WEIGHT = 2.0
SHRINKING = 3e-4
WORDS_SHRINKING = 2.0
"""How much stronger the weights of single words are held down than those of senses."""
ROUNDS, STEPS = 4, 200
RAREST = 3
"""In how many texts a feature must stand."""
SMALLEST = 10
"""Weights of fewer thousandths are left out."""
_RANKS = ("MILD", "PRIVATE?", "KEY?", "BULK", "PRIVATE", "KEY")
_WORDS = ("l ", "r ", "-2", "-3", "+2", "+3", "_", "opens")

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Example:
    """A text's instances, whether it is an attack, and what it counts."""

    instances: Sequence[Instance]
    is_attack: bool
    weight: float


def examples(name: str, texts: Iterable[str], *, is_attack: bool) -> list[Example]:
    """The examples of one list."""
    written = not name.endswith(("framed", "mirrored", "told", "more"))
    return [
        Example(
            instances=[each for reading in readings(text) for each in instances(read(reading))],
            is_attack=is_attack,
            weight=1.0 if written else FILLED_WEIGHT,
        )
        for text in texts
    ]


def train(data: Sequence[Example]) -> Reader:
    """A reader for which the likeliest instance of an attack asks, and none of a request does."""
    counts = Counter(
        f for one in data for f in {f for each in one.instances for f in each.features}
    )
    names = sorted(feature for feature, count in counts.items() if count >= RAREST)
    index = {name: number for number, name in enumerate(names)}
    held = np.array([WORDS_SHRINKING if name.startswith(_WORDS) else 1.0 for name in names])
    rows = [[_numbers(each, index) for each in one.instances] for one in data]
    weights, bias = np.zeros(len(names)), 0.0
    for turn in range(ROUNDS):
        chosen, labels, counted = _chosen(data, rows, weights if turn else None)
        weights, bias = _fitted(chosen, labels, counted, SHRINKING * held)
    kept = {n: round(1000 * float(w)) for n, w in zip(names, weights, strict=True)}
    return Reader(
        weights={name: weight for name, weight in kept.items() if abs(weight) >= SMALLEST},
        bias=round(1000 * bias),
        threshold=THRESHOLD,
    )


def _numbers(instance: Instance, index: dict[str, int]) -> NDArray[np.int64]:
    return np.array(sorted(index[f] for f in instance.features if f in index), dtype=np.int64)


def _chosen(
    data: Sequence[Example], rows: list[list[NDArray[np.int64]]], weights: Floats | None
) -> tuple[list[NDArray[np.int64]], Floats, Floats]:
    """All instances of requests, and of each attack the one that most looks like one."""
    chosen, labels, counted = [], [], []
    for one, numbers in zip(data, rows, strict=True):
        if one.is_attack and numbers:
            best = max(range(len(numbers)), key=lambda at: _rank(one, numbers, at, weights))
            chosen.append(numbers[best])
            labels.append(1.0)
            counted.append(one.weight)
        for each in () if one.is_attack else numbers:
            chosen.append(each)
            labels.append(0.0)
            counted.append(one.weight * BENIGN_WEIGHT / len(numbers) ** 0.5)
    return chosen, np.array(labels), np.array(counted)


def _rank(
    one: Example, numbers: list[NDArray[np.int64]], at: int, weights: Floats | None
) -> tuple[float, int]:
    """By its weights; at first, by how private what it names is, the last of the text first."""
    if weights is None:
        return float(_RANKS.index(one.instances[at].group)), at
    return float(weights[numbers[at]].sum()), -at


def _fitted(
    chosen: list[NDArray[np.int64]], labels: Floats, counted: Floats, shrinking: Floats
) -> tuple[Floats, float]:
    """Logistic regression by Nesterov's accelerated gradient."""
    places = np.concatenate(chosen)
    lengths = [len(each) for each in chosen]
    rows = np.repeat(np.arange(len(chosen)), lengths)
    step = 1.0 / (0.25 * 0.35 * float(np.mean(lengths)))
    share = counted / counted.sum()
    weights, bias = np.zeros(len(shrinking)), 0.0
    last, last_bias = weights, bias
    for turn in range(STEPS):
        pace = turn / (turn + 3)
        ahead, ahead_bias = weights + pace * (weights - last), bias + pace * (bias - last_bias)
        sums = np.bincount(rows, ahead[places], len(chosen)) + ahead_bias
        errors = (1.0 / (1.0 + np.exp(-sums)) - labels) * share
        last, last_bias = weights, bias
        slope = np.bincount(places, errors[rows], len(shrinking)) + shrinking * ahead
        weights, bias = ahead - step * slope, ahead_bias - step * float(errors.sum())
    return weights, bias


def check() -> None:
    """Prints, for each list, how much of it is refused by a reader that was not trained on it."""
    lists = corpus(SEED)
    data = {
        name: examples(name, texts, is_attack=is_attack)
        for name, (is_attack, texts) in lists.items()
    }
    for name, (is_attack, texts) in lists.items():
        if any(one.weight < 1.0 for one in data[name]):
            continue
        reader = train([one for other, ones in data.items() if other != name for one in ones])
        found = [any(reader.score(i) > THRESHOLD for i in one.instances) for one in data[name]]
        print(
            f"{name}: {'attacks' if is_attack else 'requests'} {len(texts)}, refused {sum(found)}"
        )


def main() -> None:
    """Writes the weights, or with `--check` only measures."""
    if "--check" in sys.argv:
        check()
        return
    lists = corpus(SEED)
    reader = train(
        [
            one
            for name, (bad, texts) in lists.items()
            for one in examples(name, texts, is_attack=bad)
        ]
    )
    data = {"threshold": reader.threshold, "bias": reader.bias, "weights": reader.weights}
    TARGET.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
