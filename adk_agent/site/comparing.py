"""Two runs side by side: what `greenroom compare` says, and the tasks gained and lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from adk_agent.core.redaction import ModelRedactor
from adk_agent.present.page.words import MARKS, Mark, State, state_of
from adk_agent.results.comparison import AgentComparison, RunComparison, compare_runs
from adk_agent.results.comparison_text import summary
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import TaskKey
from adk_agent.runs.results import results_so_far

Change = Literal["gained", "lost", "same", "not compared"]
_ORDER: tuple[Change, ...] = ("gained", "lost", "same", "not compared")


@dataclass(frozen=True, kw_only=True)
class TaskLine:
    """A task with the marks of its trials in both runs."""

    domain: str
    task_id: str
    change: Change
    first: tuple[tuple[State, Mark], ...]
    second: tuple[tuple[State, Mark], ...]


@dataclass(frozen=True, kw_only=True)
class AgentPanel:
    """One agent before and after."""

    row: AgentComparison
    changed: tuple[TaskLine, ...]
    unchanged: tuple[TaskLine, ...]


@dataclass(frozen=True, kw_only=True)
class SideBySide:
    """Two runs."""

    found: RunComparison
    text: str
    """The text of the command."""
    panels: tuple[AgentPanel, ...]


def side_by_side(
    results_dir: Path,
    first: str,
    second: str,
    *,
    other_data: bool,
    across_users: bool,
    redactor: ModelRedactor,
) -> SideBySide:
    """Compare two runs of a folder.

    Raises:
        RequestError: They cannot be compared, or one does not exist.
        StorageError: One has no results, or they cannot be read.
    """
    reports = [redactor.model(results_so_far(results_dir, each)[1]) for each in (first, second)]
    found = compare_runs(*reports, other_data=other_data, across_users=across_users)
    return SideBySide(
        found=found,
        text=summary(found),
        panels=tuple(_panel(row, *reports) for row in found.agents),
    )


def _panel(row: AgentComparison, first: EvaluationReport, second: EvaluationReport) -> AgentPanel:
    before, after = _marks(first, row.first_agent), _marks(second, row.second_agent)
    changes: dict[TaskKey, Change] = {(each.domain, each.task_id): "gained" for each in row.gained}
    changes |= {(each.domain, each.task_id): "lost" for each in row.lost}
    lines = [
        TaskLine(
            domain=task[0],
            task_id=task[1],
            change=changes.get(
                task, "same" if task in before and task in after else "not compared"
            ),
            first=before.get(task, ()),
            second=after.get(task, ()),
        )
        for task in dict.fromkeys([*before, *after])
        if not row.domains or task[0] in row.domains
    ]
    lines.sort(key=lambda line: _ORDER.index(line.change))
    return AgentPanel(
        row=row,
        changed=tuple(line for line in lines if line.change in ("gained", "lost")),
        unchanged=tuple(line for line in lines if line.change not in ("gained", "lost")),
    )


def _marks(
    report: EvaluationReport, agent: str
) -> Mapping[TaskKey, tuple[tuple[State, Mark], ...]]:
    found: dict[TaskKey, list[tuple[State, Mark]]] = defaultdict(list)
    for trial in report.trials:
        if trial.participant == agent:
            state = state_of(trial)
            found[trial.task].append((state, MARKS[state]))
    return {task: tuple(marks) for task, marks in found.items()}


def presets(ids: Sequence[str], first: str, second: str) -> tuple[str, str]:
    """Return which runs the form proposes: those asked for, else the latest and the one before."""
    latest = [*ids[:2], "", ""]
    chosen = second or latest[0]
    before = next((each for each in ids[ids.index(chosen) + 1 :]), "") if chosen in ids else ""
    return first or before or latest[1], chosen
