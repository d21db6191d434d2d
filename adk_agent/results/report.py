"""EvaluationReport and its rows: the structured result that everything else is made from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import AwareDatetime, TypeAdapter

from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.headlines import HeadlineRow
from adk_agent.results.summary import OverallRow, Row, SummaryRow, TaskRow, TrialRow, total_kinds
from adk_agent.results.tables import counted
from adk_agent.results.team_summary import TeamRow
from evals.base import Evaluation, Scope
from evals.diagnosis import FailureKind

SCHEMA_VERSION = "1"


class TrialEvaluations(Row):
    """Evaluators' results over one trial, all trials of a participant, or the run."""

    scope: Scope
    participant: str | None = None
    """None where the scope is the run."""
    domain: str | None = None
    task_id: str | None = None
    trial: int | None = None
    results: tuple[Evaluation, ...]


class EvaluationReport(Row):
    """The result of one run. Its keys are stable within a `schema_version`."""

    schema_version: str = SCHEMA_VERSION
    run_id: str
    status: Literal["complete", "incomplete", "interrupted"]
    """Incomplete: some trial failed, so scores are ranges. Interrupted: trials are missing."""
    stopped_by: str | None = None
    """The rule that ended it early, as was asked for; None where every trial was to be played."""
    request: str
    plan: EvaluationPlan
    created_at: AwareDatetime
    versions: dict[str, str]
    warnings: tuple[str, ...] = ()
    summary: tuple[SummaryRow, ...]
    overall: tuple[OverallRow, ...] = ()
    """Over all domains, where there are several."""
    headlines: tuple[HeadlineRow, ...] = ()
    """The figures of benchmarks that name others than pass^k."""
    tasks: tuple[TaskRow, ...] = ()
    trials: tuple[TrialRow, ...]
    teams: tuple[TeamRow, ...] = ()
    """How the teams behind the participants coordinate, where anything of it could be seen."""
    evaluations: tuple[TrialEvaluations, ...]

    def to_json(self) -> str:
        """The report as indented JSON, ending in a newline."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> EvaluationReport:
        """The report that `to_json` wrote.

        Raises:
            pydantic.ValidationError: `text` is no such report.
        """
        return _REPORT.validate_json(text)


_REPORT: TypeAdapter[EvaluationReport] = TypeAdapter(EvaluationReport)

OnReport = Callable[[EvaluationReport], None]
"""Is given a report once it is written."""


def ignored(report: EvaluationReport) -> None:
    """Do nothing with a report."""


SICKLY_SHARE = 0.5
"""From this share of its scored trials on, an agent's odd replies are warned about."""


def sickly(trials: Sequence[TrialRow]) -> list[str]:
    """Warnings about participants that hardly speak the wire.

    Their trials are scored, as the rules demand, but a broken agent often passes tasks in which
    nothing should be done: such a score says little.
    """
    warnings = []
    for participant in dict.fromkeys(trial.participant for trial in trials):
        scored = [t for t in trials if t.participant == participant and t.status == "scored"]
        # One that ended a trial by an error of its own has a warning of its own.
        mute = sum(t.termination == "agent_error" and t.fault is None for t in scored)
        garbled = [trial for trial in scored if trial.format_repairs >= trial.turns > 0]
        kinds = counted(total_kinds(garbled))
        for count, what in (
            (mute, "ended because the agent sent nothing that can be played"),
            (len(garbled), f"needed repairs in every reply{f' ({kinds})' if kinds else ''}"),
        ):
            if scored and count >= SICKLY_SHARE * len(scored):
                warnings.append(f"{participant}: {count} of {len(scored)} scored trials {what}")
    return warnings


def failed_reasons(trials: Sequence[TrialRow]) -> dict[str, int]:
    """How often each reason stands behind a trial without a reward, most frequent first."""
    counts: dict[str, int] = defaultdict(int)
    for trial in trials:
        if trial.reason is not None and trial.status != "scored":
            counts[trial.reason] += 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def failure_counts(trials: Sequence[TrialRow]) -> dict[FailureKind, int]:
    """How many trials did not pass for each reason, most frequent first."""
    counts = Counter(trial.diagnosis.kind for trial in trials if trial.diagnosis is not None)
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
