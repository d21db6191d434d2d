"""Differences between the simulated users of two runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from adk_agent.results.report import EvaluationReport

_UNSET: Final = "not set"


def other_users(
    first: EvaluationReport, second: EvaluationReport, pairs: Sequence[tuple[str, str]]
) -> list[str]:
    """List in what the users of two runs differ: who played them, and with which arguments.

    Only domains count in which both agents of a pair have a scored trial. Another seed makes no
    other user: it draws from the same one.

    Args:
        first: The run before.
        second: The run after.
        pairs: An agent of each that are compared.
    """
    found = []
    for one, other in pairs:
        before, after = _labels(first, one), _labels(second, other)
        found += [
            f"user of {one} in {domain}: {_named(before[domain])} in the first run, "
            f"{_named(after[domain])} in the second"
            for domain in sorted(before.keys() & after.keys())
            if before[domain] != after[domain]
        ]
    return list(dict.fromkeys(found)) or _other_arguments(first, second)


def _labels(report: EvaluationReport, agent: str) -> Mapping[str, set[str]]:
    labels: dict[str, set[str]] = defaultdict(set)
    for trial in report.trials:
        if trial.participant == agent and trial.status == "scored":
            labels[trial.domain].add(trial.user)
    return labels


def _named(labels: set[str]) -> str:
    return ", ".join(sorted(labels))


def _other_arguments(first: EvaluationReport, second: EvaluationReport) -> list[str]:
    """List arguments of the user's model that differ, where both runs recorded them."""
    if first.user is None or second.user is None or first.user.model != second.user.model:
        return []
    before, after = first.user.arguments, second.user.arguments
    return [
        f"{name} of the user's model {first.user.model}: {before.get(name, _UNSET)} in the first "
        f"run, {after.get(name, _UNSET)} in the second"
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
