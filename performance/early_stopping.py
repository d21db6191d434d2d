"""How often intervals hold the truth in runs that end once they are narrow.

    python performance/early_stopping.py [runs]

Each run draws the tasks' chances anew, from a beta distribution with the mean that is shown and an
intraclass correlation of 0.5, so that easy and hard tasks are mixed; the truth is that mean. Trials
are played in the order of `in_fair_order`, and the interval is looked at whenever they have grown by
a fiftieth. Here the quantiles of the beta distribution come from scipy, to be quick.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from adk_agent.play.stop_rule import MIN_TASKS

CORRELATION = 0.5
TRIALS = 4
RULES = ((50, 0.3), (50, 0.25), (114, 0.2), (114, 0.15), (300, 0.1))
"""Tasks, and the width of the interval that ends the run."""
MEANS = (0.1, 0.3, 0.5, 0.9)


@dataclass(frozen=True, kw_only=True)
class End:
    """How one run ended."""

    played: float
    score: float
    holds: bool


def run(random: np.random.Generator, mean: float, tasks: int, width: float) -> End:
    """Play one run until its interval is narrower than `width`, or to its end."""
    spread = 1 / CORRELATION - 1
    chances = random.beta(mean * spread, (1 - mean) * spread, tasks)
    outcomes = random.random((TRIALS, tasks)) < chances
    passed, played = np.zeros(tasks), np.zeros(tasks)
    looked = 0
    for done in range(1, TRIALS * tasks + 1):
        trial, task = divmod(done - 1, tasks)
        passed[task] += outcomes[trial, task]
        played[task] += 1
        if done < MIN_TASKS or done - looked <= looked // 50:
            continue
        looked = done
        low, high = interval(passed[played > 0] / played[played > 0])
        if high - low < width:
            break
    shares = passed[played > 0] / played[played > 0]
    low, high = interval(shares)
    return End(
        played=done / (TRIALS * tasks), score=float(shares.mean()), holds=low <= mean <= high
    )


def interval(shares: NDArray[np.float64]) -> tuple[float, float]:
    """As `evals.quick_interval`, with exact quantiles."""
    size = shares.size + 1
    mean = (shares.sum() + 0.5) / size
    square = ((shares**2).sum() + 0.5) / size
    weight = mean * (1 - mean) * (size + 1) / (square - mean * mean) - 1
    low, high = (betaincinv(mean * weight, (1 - mean) * weight, q) for q in (0.025, 0.975))
    return float(low), float(high)


def main() -> None:
    """Print a row for each truth and rule."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000
    random = np.random.default_rng(7)
    print("pass^1  tasks x trials  rule             played  holds the truth  mean error")
    for mean in MEANS:
        for tasks, width in RULES:
            ends = [run(random, mean, tasks, width) for _ in range(runs)]
            print(
                f"{mean:<7} {tasks:>5} x {TRIALS}       interval < {width:<6}"
                f"{np.mean([end.played for end in ends]):>6.0%}"
                f"{np.mean([end.holds for end in ends]):>12.1%}"
                f"{np.mean([end.score for end in ends]) - mean:>+15.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
