"""How often attribution names the decisive agent and step: python performance/attribution.py FOLDER

FOLDER (else WHOWHEN_DIR) holds logs of Who&When, in the folders Algorithm-Generated and
Hand-Crafted. Prints for each part the share of logs in which the agent and the step (exactly, within
1 and within 3) are right, with Wilson intervals, mean reciprocal ranks, the same for five shortcuts
that read nothing but who speaks when, and an exact sign test against the best of these.

The weights were chosen on the same logs, so that figure is optimistic. Beside it stands that of
nested cross-validation: for each tenth of the questions the weights are chosen anew on the others.

With --model NAME a language model is asked as well, at its provider's price; its key comes from the
environment, as for any judge. --with-truth hands the right answer over, as the setting of that name
does. Exits with 1 where the rules are significantly below the best shortcut.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adk_agent.core.models import LiteLlmCompletion, ModelSpec
from evals.attribution.cues import signs_of
from evals.attribution.evaluator import AttributionEvaluator, attribution_in
from evals.attribution.model import Cue
from evals.attribution.outcomes import log_of
from evals.attribution.ranking import WEIGHTS, attribute
from evals.attribution.signs import Found
from evals.attribution.turns import Log
from evals.base import EvaluationContext
from evals.trace import Trace
from tau_bridge.trace_formats.messages import utterances_of

PARTS = ("Algorithm-Generated", "Hand-Crafted")
GRID: Mapping[Cue, Sequence[float]] = {
    "first_result": (0.6, 1.0),
    "rare_worker": (0.6, 1.0),
    "last_result": (0.3, 0.6, 1.0),
    "invented": (0.0, 0.2, 0.6, 1.0),
    "failing_run": (0.0, 0.2, 0.4),
    "unsure": (0.0, 0.2, 0.4),
}
"""The weights among which cross-validation chooses."""
FOLDS = 10
PUBLISHED = (
    "Published with GPT-4o on all logs, without the right answer (arXiv 2505.00212, Table 1), agent / "
    "step: all at once 51.1 / 13.5 and 53.4 / 3.5, step by step 26.0 / 15.3 and 32.8 / 8.8, binary "
    "search 30.1 / 16.6 and 36.2 / 6.9. Other logs than these, so not comparable without care."
)

Ranking = Sequence[tuple[str, int]]
"""Agents and places of messages, the most likely first."""


@dataclass(frozen=True)
class Labelled:
    """One log, with who is known to have decided it."""

    name: str
    question: str
    context: EvaluationContext
    log: Log
    agent: str
    step: int


def read(folder: Path, *, with_truth: bool) -> list[Labelled]:
    """Read the logs of one part, in the order of their numbers."""
    found = []
    for path in sorted(folder.glob("*.json"), key=lambda path: int(path.stem)):
        given = json.loads(path.read_text(encoding="utf-8"))
        context = EvaluationContext(
            trace=Trace(trace_id=path.stem),
            messages=utterances_of(given["history"]),
            expected_answer=given["ground_truth"] if with_truth else None,
        )
        found.append(
            Labelled(
                name=path.stem,
                question=given["question"],
                context=context,
                log=log_of(context),
                agent=given["mistake_agent"],
                step=int(given["mistake_step"]),
            )
        )
    return found


def by_rules(
    log: Log,
    weights: Mapping[Cue, float] = WEIGHTS,
    signs: Sequence[tuple[Cue, Found]] | None = None,
) -> Ranking:
    """Return the ranking by rules."""
    found = attribute(log, weights=weights, most=1_000, signs=signs).candidates
    return [(each.agent, place_of(each.step_id)) for each in found]


def place_of(step_id: str) -> int:
    """Return the place of the message that a step is."""
    return int(step_id.removeprefix("message-"))


def _own(log: Log) -> list[tuple[str, int]]:
    return [(turn.agent, place_of(turn.step_id)) for turn in log.turns if turn.is_own]


def _most_frequent(log: Log) -> Ranking:
    own = _own(log)
    agent = Counter(agent for agent, _ in own).most_common(1)[0][0]
    return [each for each in own if each[0] == agent][:1]


def _first_contribution(log: Log) -> Ranking:
    """Return the second message, or the first where a program answers it."""
    own = _own(log)
    return [next((each for each in own if each[1] == 1), own[0])]


SHORTCUTS: Mapping[str, Callable[[Log], Ranking]] = {
    "first speaker": lambda log: _own(log)[:1],
    "last speaker": lambda log: _own(log)[-1:],
    "most frequent speaker": _most_frequent,
    "first contribution": _first_contribution,
}
"""The fifth, a fixed step, is chosen on the other logs: `fixed_steps`."""


def fixed_steps(logs: Sequence[Labelled]) -> list[Ranking]:
    """Return for each log the step that is most often right in the others, and its speaker."""
    counts = Counter(each.step for each in logs)
    found = []
    for each in logs:
        others = counts - Counter([each.step])
        step = min(others, key=lambda step: (-others[step], step))
        speakers = {place: agent for agent, place in _own(each.log)}
        found.append([(speakers[step], step)] if step in speakers else [])
    return found


@dataclass(frozen=True)
class Hits:
    """Which logs a method is right about, and its reciprocal ranks."""

    agents: Sequence[bool]
    steps: Sequence[bool]
    within: Mapping[int, Sequence[bool]]
    agent_rr: Sequence[float]
    step_rr: Sequence[float]


def hits(logs: Sequence[Labelled], rankings: Sequence[Ranking]) -> Hits:
    """Compare rankings with the labels; one without a candidate is wrong."""
    pairs = list(zip(logs, rankings, strict=True))
    return Hits(
        agents=[bool(r) and r[0][0] == each.agent for each, r in pairs],
        steps=[bool(r) and r[0][1] == each.step for each, r in pairs],
        within={
            most: [bool(r) and abs(r[0][1] - each.step) <= most for each, r in pairs]
            for most in (1, 3)
        },
        agent_rr=[_reciprocal([a for a, _ in r], each.agent) for each, r in pairs],
        step_rr=[_reciprocal([s for _, s in r], each.step) for each, r in pairs],
    )


def _reciprocal(ranked: Sequence[Any], right: object) -> float:
    distinct = list(dict.fromkeys(ranked))
    return 1 / (1 + distinct.index(right)) if right in distinct else 0.0


def nested(parts: Mapping[str, Sequence[Labelled]]) -> dict[str, list[Ranking]]:
    """Choose the weights for each fold of the questions on the logs of the others."""
    logs = [(part, at, each) for part, found in parts.items() for at, each in enumerate(found)]
    questions = sorted({each.question for _, _, each in logs})
    fold_of = {question: number % FOLDS for number, question in enumerate(questions)}
    choices = [dict(zip(GRID, values, strict=True)) for values in itertools.product(*GRID.values())]
    signs = [signs_of(each.log) for _, _, each in logs]
    ranked = [
        [
            by_rules(each.log, {**WEIGHTS, **weights}, of_log)
            for (_, _, each), of_log in zip(logs, signs, strict=True)
        ]
        for weights in choices
    ]
    chosen: dict[str, list[Ranking]] = {part: [[]] * len(found) for part, found in parts.items()}
    for fold in range(FOLDS):
        training = [n for n, (_, _, each) in enumerate(logs) if fold_of[each.question] != fold]

        def quality(rankings: Sequence[Ranking], training: Sequence[int] = training) -> float:
            return sum(_worth(logs[n][0], logs[n][2], rankings[n], parts) for n in training)

        best = max(ranked, key=quality)
        for n, (part, at, each) in enumerate(logs):
            if fold_of[each.question] == fold:
                chosen[part][at] = best[n]
    return chosen


def _worth(
    part: str, each: Labelled, ranking: Ranking, parts: Mapping[str, Sequence[Labelled]]
) -> float:
    """Return what a ranking adds to the mean of agent and step accuracy, the parts alike."""
    if not ranking:
        return 0.0
    return ((ranking[0][0] == each.agent) + (ranking[0][1] == each.step)) / len(parts[part])


def wilson(right: int, n: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a share."""
    z = 1.959964
    share, scale = right / n, 1 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    return middle - half, middle + half


def sign_test(one: Sequence[bool], other: Sequence[bool]) -> tuple[int, int, float]:
    """Return in how many logs one alone is right, the other alone, and the exact two-sided p."""
    won = sum(a and not b for a, b in zip(one, other, strict=True))
    lost = sum(b and not a for a, b in zip(one, other, strict=True))
    n = won + lost
    tail = sum(math.comb(n, k) for k in range(min(won, lost) + 1)) / 2**n if n else 1.0
    return won, lost, min(1.0, 2 * tail)


def lines_of(name: str, found: Hits) -> Iterator[str]:
    """Yield the line of one method."""
    cells = []
    for right in (found.agents, found.steps):
        low, high = wilson(sum(right), len(right))
        cells.append(f"{sum(right) / len(right):5.1%} [{low:.0%}, {high:.0%}]")
    near = " ".join(f"+-{most} {sum(r) / len(r):.1%}" for most, r in found.within.items())
    n = len(found.agents)
    ranks = f"MRR {sum(found.agent_rr) / n:.2f} / {sum(found.step_rr) / n:.2f}"
    yield f"  {name:24} agent {cells[0]}  step {cells[1]}  {near}  {ranks}"


async def by_model(name: str, logs: Sequence[Labelled]) -> list[Ranking]:
    """Ask a language model about each log, one after the other."""
    completion = LiteLlmCompletion(ModelSpec(name=name))
    evaluator = AttributionEvaluator(
        completion.ask, produced_by=f"llm:{name}", timeout_s=120, total_s=300
    )
    rankings: list[Ranking] = []
    for each in logs:
        evaluation = await evaluator.evaluate(each.context)
        for warning in evaluation.warnings:
            print(f"log {each.name}: {warning}", file=sys.stderr)
        found = attribution_in(evaluation)
        candidates = found.candidates if found is not None else ()
        rankings.append([(c.agent, place_of(c.step_id)) for c in candidates])
    return rankings


def report(part: str, logs: Sequence[Labelled], methods: Mapping[str, Sequence[Ranking]]) -> bool:
    """Print one part; return whether the rules are significantly below the best shortcut."""
    shortcuts = {
        **{name: [method(each.log) for each in logs] for name, method in SHORTCUTS.items()},
        "fixed step": fixed_steps(logs),
    }
    measured = {name: hits(logs, rankings) for name, rankings in {**methods, **shortcuts}.items()}
    print(f"{part}: {len(logs)} logs")
    for name, found in measured.items():
        print(*lines_of(name, found), sep="\n")
    is_below = False
    for what in ("agents", "steps"):
        best = max(shortcuts, key=lambda name: sum(getattr(measured[name], what)))
        for name in methods:
            ours, theirs = getattr(measured[name], what), getattr(measured[best], what)
            won, lost, p = sign_test(ours, theirs)
            print(f"  {what}: {name} against {best}: {won} won, {lost} lost, p = {p:.2f}")
            is_below |= p < 0.05 and lost > won
    return is_below


def main() -> int:
    """Measure and print; see the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("WHOWHEN_DIR"))
    parser.add_argument("--model", help="also ask this language model, named as LiteLLM does")
    parser.add_argument("--with-truth", action="store_true", help="hand the right answer over")
    args = parser.parse_args()
    folders = {part: Path(args.folder or "", part) for part in PARTS}
    missing = [str(folder) for folder in folders.values() if not folder.is_dir()]
    if args.folder is None or missing:
        print(f"no logs: {', '.join(missing)} is no folder; name the one that holds {PARTS}")
        return 2
    parts = {p: read(folder, with_truth=args.with_truth) for p, folder in folders.items()}
    if not all(parts.values()):
        print(f"no logs in {[part for part, logs in parts.items() if not logs]}")
        return 2
    validated = nested(parts)
    is_below = False
    for part, logs in parts.items():
        methods: dict[str, Sequence[Ranking]] = {
            "rules (seen)": [by_rules(each.log) for each in logs],
            "rules (cross-validated)": validated[part],
        }
        if args.model:
            methods[args.model] = asyncio.run(by_model(args.model, logs))
        is_below |= report(part, logs, methods)
    print(PUBLISHED)
    return 1 if is_below else 0


if __name__ == "__main__":
    sys.exit(main())
