"""Consistency: how alike the trials of the same task turn out. Over several traces, not one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from evals.graph.metric import MetricValue

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class AcrossTrials:
    """The description of a metric across trials, in the same fields as a metric of one trace."""

    name: str
    formula: str
    source: str
    range: str
    needs: str
    version: str = "1"


OUTCOME_CONSISTENCY = AcrossTrials(
    name="outcome_consistency",
    formula="mean over tasks of (2p - 1)^2, p = share of the task's trials that succeeded",
    source="this project",
    range="0 (every second trial of each task succeeds) to 1 (all trials of a task end alike)",
    needs="a task with two trials",
)
ACTION_CONSISTENCY = AcrossTrials(
    name="action_consistency",
    formula=(
        "mean over tasks of the mean over pairs of trials of 1 - d / (length of the longer), "
        "d = Levenshtein distance of the sequences of actions; two empty sequences are alike"
    ),
    source=(
        "Levenshtein 1966, Binary codes capable of correcting deletions, insertions, and reversals; "
        "the mean over pairs is this project's"
    ),
    range="0 (no action in common) to 1 (the same actions in the same order)",
    needs="a task with two trials",
)

ACROSS_TRIALS: tuple[AcrossTrials, ...] = (OUTCOME_CONSISTENCY, ACTION_CONSISTENCY)
"""Listed with the metrics of one trace."""


def outcome_consistency(outcomes: Mapping[str, Sequence[bool]]) -> MetricValue:
    """Measure how alike the trials of a task end, 0 to 1.

    Args:
        outcomes: For each task, whether each of its trials succeeded. Trials that failed for
            reasons outside the agents do not belong here.
    """
    return _mean_over_tasks(outcomes, _outcome_agreement)


def action_consistency(sequences: Mapping[str, Sequence[Sequence[Hashable]]]) -> MetricValue:
    """Measure how alike the actions in the trials of a task are, 0 to 1.

    Args:
        sequences: For each task, the actions of each of its trials in order.
    """
    return _mean_over_tasks(sequences, _action_agreement)


def _mean_over_tasks(
    tasks: Mapping[str, Sequence[T]], agreement: Callable[[Sequence[T]], float]
) -> MetricValue:
    usable = [trials for _, trials in sorted(tasks.items()) if len(trials) > 1]
    if not usable:
        reason = f"needs a task with two trials or more, there is none among {len(tasks)}"
        return MetricValue(value=None, reason=reason, status="unscored")
    return MetricValue(
        value=sum(map(agreement, usable)) / len(usable),
        details={"tasks": len(usable), "tasks_with_one_trial_or_none": len(tasks) - len(usable)},
    )


def _outcome_agreement(outcomes: Sequence[bool]) -> float:
    share = sum(map(bool, outcomes)) / len(outcomes)
    return (2 * share - 1) ** 2


def _action_agreement(sequences: Sequence[Sequence[Hashable]]) -> float:
    """Return the mean over all pairs; equal sequences are compared once, however many there are."""
    kinds = sorted(Counter(_numbered(sequences)).items())
    alike = sum(count * (count - 1) / 2 for _, count in kinds)
    for (one, ones), (other, others) in combinations(kinds, 2):
        alike += ones * others * _similarity(one, other)
    return alike / (len(sequences) * (len(sequences) - 1) / 2)


def _numbered(sequences: Sequence[Sequence[Hashable]]) -> list[tuple[int, ...]]:
    """Return the same sequences with each action as a number, by its first appearance."""
    numbers: dict[Hashable, int] = {}
    return [
        tuple(numbers.setdefault(action, len(numbers)) for action in actions)
        for actions in sequences
    ]


def _similarity(one: Sequence[int], other: Sequence[int]) -> float:
    from rapidfuzz.distance import Levenshtein  # late: only runs with several trials need it

    return float(Levenshtein.normalized_similarity(one, other))
