"""Outcomes of trials by task, as comparisons take them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from adk_agent.results.summary import TaskKey, TrialRow


def outcomes_by_task(trials: Sequence[TrialRow], *, failed_as: bool) -> dict[TaskKey, list[bool]]:
    """Return, by task, True for each passed trial of those scored or failed; empty if none scored.

    Args:
        trials: The trials of one agent.
        failed_as: The value of a failed trial.
    """
    outcomes: dict[TaskKey, list[bool]] = defaultdict(list)
    if any(trial.status == "scored" for trial in trials):
        for trial in trials:
            if trial.status != "unscored":
                passed = failed_as if trial.status == "failed" else trial.passed
                outcomes[trial.task].append(passed)
    return dict(outcomes)
