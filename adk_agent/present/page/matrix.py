"""Matrix: which task passed in which trial, for every participant beside the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from adk_agent.core.plan import EvaluationPlan, PlannedTasks
from adk_agent.present.page import texts
from adk_agent.present.page.words import MARKS, Mark, State, state_of
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import TaskRow, TrialKey, TrialRow


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A trial. `number` is its place in the report, None where it was not played."""

    state: State
    trial: int
    number: int | None

    @property
    def mark(self) -> Mark:
        """Return how it is shown."""
        return MARKS[self.state]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A task: its cells for each participant, and the rewards of the floor and the ceiling."""

    task_id: str
    cells: tuple[tuple[Cell, ...], ...]
    floor: str
    ceiling: str
    reason: str
    """Why the request chose it; empty where it says nothing."""


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """The tasks of one domain."""

    domain: str
    participants: tuple[str, ...]
    trials: int
    lines: tuple[Line, ...]
    references: bool
    """True if any of its tasks has a floor or a ceiling."""


def matrices(report: EvaluationReport) -> tuple[Matrix, ...]:
    """Return a matrix for each domain of the plan, with its tasks in their order."""
    numbered = {row.key: (number, row) for number, row in enumerate(report.trials)}
    marks = {(row.domain, row.task_id): row for row in report.tasks}
    return tuple(_matrix(report.plan, planned, numbered, marks) for planned in report.plan.tasks)


def _matrix(
    plan: EvaluationPlan,
    planned: PlannedTasks,
    numbered: Mapping[TrialKey, tuple[int, TrialRow]],
    marks: Mapping[tuple[str, str], TaskRow],
) -> Matrix:
    domain = planned.domain
    names = tuple(participant.address for participant in plan.participants)
    lines = tuple(
        Line(
            task_id=task_id,
            cells=tuple(
                tuple(
                    _cell(numbered.get((name, domain, task_id, trial)), trial)
                    for trial in range(plan.num_trials)
                )
                for name in names
            ),
            floor=_reference(marks.get((domain, task_id)), "floor"),
            ceiling=_reference(marks.get((domain, task_id)), "ceiling"),
            reason=planned.reasons.get(task_id, ""),
        )
        for task_id in planned.task_ids
    )
    return Matrix(
        domain=domain,
        participants=names,
        trials=plan.num_trials,
        lines=lines,
        references=any(line.floor != texts.NONE or line.ceiling != texts.NONE for line in lines),
    )


def _cell(found: tuple[int, TrialRow] | None, trial: int) -> Cell:
    if found is None:
        return Cell(state="missing", trial=trial, number=None)
    number, row = found
    return Cell(state=state_of(row), trial=trial, number=number)


def _reference(row: TaskRow | None, which: str) -> str:
    reward = getattr(row, which, None)
    return texts.NONE if reward is None else f"{reward:g}"
