"""EvaluationReport and its rows: the structured result that every other view is made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pydantic import AwareDatetime, Field

from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.headlines import HeadlineRow
from adk_agent.results.pairs import AgentPair
from adk_agent.results.summary import OverallRow, Row, SummaryRow, TaskRow, TrialRow, by_frequency
from adk_agent.results.team_summary import TeamRow
from evals.base import Evaluation, Scope
from evals.diagnosis import FailureKind

SCHEMA_VERSION = "1"
ReportStatus = Literal["complete", "incomplete", "interrupted"]
"""Incomplete: a trial failed, so scores are ranges. Interrupted: trials are missing."""


class TrialEvaluations(Row):
    """Evaluators' results over one trial, all trials of a participant, or the run."""

    scope: Scope
    participant: str | None = None
    """None if the scope is the run."""
    domain: str | None = None
    task_id: str | None = None
    trial: int | None = None
    results: tuple[Evaluation, ...]


class EvaluationReport(Row):
    """The result of one run. Its keys are stable within a `schema_version`."""

    schema_version: str = SCHEMA_VERSION
    run_id: str
    status: ReportStatus
    stopped_by: str | None = None
    """The requested rule or limit (`max_cost 5`) that ended it early; None if none did."""
    request: str
    plan: EvaluationPlan
    created_at: AwareDatetime
    versions: dict[str, str]
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """The hashes of the prompts with which a language model read the request and words the report."""
    warnings: tuple[str, ...] = ()
    summary: tuple[SummaryRow, ...]
    overall: tuple[OverallRow, ...] = ()
    """Scores over all domains of a benchmark, if there are several."""
    headlines: tuple[HeadlineRow, ...] = ()
    """The main figures of benchmarks that use something other than pass^k."""
    tasks: tuple[TaskRow, ...] = ()
    pairs: tuple[AgentPair, ...] = ()
    """The differences of each two agents, if the run has several."""
    trials: tuple[TrialRow, ...]
    teams: tuple[TeamRow, ...] = ()
    """The coordination of the participants' teams, where it was visible."""
    evaluations: tuple[TrialEvaluations, ...]

    def to_json(self) -> str:
        """Return the report as indented JSON that ends in a newline."""
        return self.model_dump_json(indent=2) + "\n"


OnReport = Callable[[EvaluationReport], None]
"""Called with a report once it is written."""


def ignored(report: EvaluationReport) -> None:
    """Ignore a report."""


def failed_reasons(trials: Sequence[TrialRow]) -> dict[str, int]:
    """Count the reasons why trials have no reward, most frequent first."""
    return by_frequency(
        trial.reason for trial in trials if trial.reason is not None and trial.status != "scored"
    )


def failure_counts(trials: Sequence[TrialRow]) -> dict[FailureKind, int]:
    """Count trials that did not pass by the kind of failure, most frequent first."""
    return by_frequency(trial.diagnosis.kind for trial in trials if trial.diagnosis is not None)
