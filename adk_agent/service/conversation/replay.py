"""Plans that are made of earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

from adk_agent.core.plan import EvaluationPlan, PlannedTasks
from adk_agent.results.summary import TrialRow

_REASONING = "The tasks of run {run_id} of which a trial failed or did not pass."


def plan_of_failed(
    plan: EvaluationPlan, trials: Sequence[TrialRow], *, run_id: str
) -> EvaluationPlan | None:
    """Return the plan of a run without the tasks of which every trial passed or was unscored.

    Everybody plays them again, as often as before. Unscored trials are not failures: whatever
    could not be scored then cannot be scored now. The plan's warnings stay behind, for they are
    about the request that made it, such as a sample of which only a part is played now.

    Args:
        plan: What was played.
        trials: What came of it; of a run that was cut off, the trials that were finished.
        run_id: The run that this repeats, for the plan's reasoning.

    Returns:
        None where no trial failed.
    """
    again = {(row.domain, row.task_id) for row in trials if is_failure(row)}
    tasks = tuple(
        PlannedTasks(domain=planned.domain, task_ids=kept)
        for planned in plan.tasks
        if (kept := tuple(each for each in planned.task_ids if (planned.domain, each) in again))
    )
    if not tasks:
        return None
    reasoning = _REASONING.format(run_id=run_id)
    return plan.model_copy(update={"tasks": tasks, "reasoning": reasoning, "warnings": ()})


def is_failure(row: TrialRow) -> bool:
    """Tell whether a trial broke, or was scored and did not pass."""
    return row.status == "failed" or (row.status == "scored" and not row.passed)
