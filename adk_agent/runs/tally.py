"""Tally: what the trials of a run came to, and the report that follows from it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.headlines import Headlines, headline_rows
from adk_agent.results.report import EvaluationReport, TrialEvaluations, failed_reasons, sickly
from adk_agent.results.summary import DataOrigin, References, SummaryRow, TrialRow, tables
from adk_agent.results.team_summary import TeamRow, for_report, judge_warnings, team_row
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord
from evals.base import Evaluation, EvaluationContext, Scope
from evals.driver import EvaluatorRegistry
from evals.graph.consistency import action_consistency, outcome_consistency
from evals.trace import ASSESSOR, CallType, InteractionStep, Provenance, Trace
from tau_bridge.benchmark import SCRIPTED_USER
from tau_bridge.completion import CACHED, COMPLETION

MOST_WARNED = 5
"""Warnings of one kind."""


class Tally:
    """Takes in trials in the order in which they end; reports them in that of the plan.

    Args:
        run_id: The run's id.
        plan: What is played.
        jobs: Its trials.
        evaluators: Run over the agent calls of each participant, and of the run.
    """

    def __init__(
        self,
        *,
        run_id: str,
        plan: EvaluationPlan,
        jobs: Sequence[TrialJob],
        evaluators: EvaluatorRegistry,
    ) -> None:
        self.counts: Counter[str] = Counter()
        """Trials by outcome: `passed`, `not passed`, `unscored`, `failed`."""
        self._run_id = run_id
        self._plan = plan
        self._jobs = jobs
        self._evaluators = evaluators
        self._rows: dict[TrialJob, TrialRow] = {}
        self._evaluations: dict[TrialJob, tuple[Evaluation, ...]] = {}
        self._agent_steps: dict[str, list[InteractionStep]] = {}
        self._warnings: list[str] = []
        self._places = {job: place for place, job in enumerate(jobs)}
        self._actions: dict[TrialJob, tuple[str, ...]] = {}
        self._model_answers = self._cached_answers = 0

    def warn(self, warnings: Iterable[str]) -> None:
        """Take in warnings that came up before the play."""
        self._warnings += warnings

    def add(self, job: TrialJob, record: TrialRecord) -> str:
        """Take in a trial that ended, and return its outcome."""
        row = record.row
        self._rows[job] = row
        self._evaluations[job] = tuple(map(for_report, record.evaluations))
        self._actions[job] = tuple(
            f"{step.caller}>{step.callee}" for step in record.trace.steps if not step.from_outside
        )
        answers = [step for step in record.trace.of_type(CallType.TOOL) if _is_answer(step)]
        self._model_answers += len(answers)
        self._cached_answers += sum(CACHED in step.additional_attributes for step in answers)
        self._agent_steps.setdefault(job.participant.address, []).extend(
            step.model_copy(update={"request_text": None, "response_text": None})
            for step in record.trace.of_type(CallType.AGENT)
            if step.caller == ASSESSOR and step.provenance is Provenance.OBSERVED
        )
        self.counts[row.outcome] += 1
        return row.outcome

    async def report(
        self,
        *,
        request: str,
        created_at: datetime,
        versions: Mapping[str, str],
        origins: Mapping[str, DataOrigin],
        references: References,
        headlines: Headlines,
        interrupted: bool,
    ) -> EvaluationReport:
        """The report of what has ended so far."""
        rows = tuple(self._rows[job] for job in self._jobs if job in self._rows)
        broken = any(row.status == "failed" for row in rows)
        made = await asyncio.to_thread(tables, rows, self._plan, origins, references)
        return EvaluationReport(
            run_id=self._run_id,
            status="interrupted" if interrupted else "incomplete" if broken else "complete",
            request=request,
            plan=self._plan,
            created_at=created_at,
            versions=dict(versions),
            warnings=(
                *self._plan.warnings,
                *self._warnings,
                *self._reuse(),
                *judge_warnings(self._evaluations.values()),
                *warnings_of(self._plan, rows, made["summary"], origins),
            ),
            **made,
            headlines=headline_rows(rows, self._plan, headlines),
            trials=rows,
            teams=self._team_rows(),
            evaluations=await self._all_evaluations(),
        )

    def _team_rows(self) -> tuple[TeamRow, ...]:
        """How each participant's team coordinates, by domain."""
        rows = []
        for participant in self._plan.participants:
            for planned in self._plan.tasks:
                jobs = [
                    job
                    for job in self._evaluations
                    if job.participant == participant and job.domain == planned.domain
                ]
                jobs.sort(key=self._places.__getitem__)
                row = team_row(
                    [
                        {each.evaluator: each for each in self._evaluations[job]}
                        for job in jobs
                        if self._rows[job].status != "failed"
                    ],
                    failed=sum(self._rows[job].status == "failed" for job in jobs),
                    participant=participant.address,
                    domain=planned.domain,
                    consistency=self._consistency(jobs),
                )
                rows += [row] if row is not None else []
        return tuple(rows)

    def _consistency(self, jobs: Sequence[TrialJob]) -> dict[str, float | None]:
        """How alike the trials of the same task are; None where no task has two to compare."""
        outcomes: dict[str, list[bool]] = {}
        actions: dict[str, list[tuple[str, ...]]] = {}
        for job in jobs:
            row = self._rows[job]
            if row.reward is not None:
                outcomes.setdefault(job.task_id, []).append(row.passed)
                actions.setdefault(job.task_id, []).append(self._actions[job])
        values = {
            "outcome_consistency": outcome_consistency(outcomes),
            "action_consistency": action_consistency(actions),
        }
        return {name: value.value for name, value in values.items()}

    def _reuse(self) -> list[str]:
        """A warning where language models were not asked because they had answered before."""
        if not self._cached_answers:
            return []
        return [
            f"{self._cached_answers} of {self._model_answers} answers of the user's and the "
            "judge's models came from the cache: tokens and cost lack them"
        ]

    async def _all_evaluations(self) -> tuple[TrialEvaluations, ...]:
        by_trial = [
            TrialEvaluations(
                scope="trial",
                participant=job.participant.address,
                domain=job.domain,
                task_id=job.task_id,
                trial=job.trial,
                results=self._evaluations[job],
            )
            for job in self._jobs
            if job in self._evaluations
        ]
        overall = [
            TrialEvaluations(
                scope="participant",
                participant=participant.address,
                results=await self._over("participant", participant.address),
            )
            for participant in self._plan.participants
        ]
        addresses = [participant.address for participant in self._plan.participants]
        whole = TrialEvaluations(scope="run", results=await self._over("run", *addresses))
        return (whole, *overall, *by_trial)

    async def _over(self, scope: Scope, *addresses: str) -> tuple[Evaluation, ...]:
        context = EvaluationContext(trace=self._merged(*addresses), scope=scope)
        return await self._evaluators.run(context)

    def _merged(self, *addresses: str) -> Trace:
        trace_id = "/".join([self._run_id, *addresses])
        steps = [step for address in addresses for step in self._agent_steps.get(address, [])]
        steps.sort(key=lambda step: step.step_id)
        return Trace(
            trace_id=trace_id,
            steps=tuple(step.model_copy(update={"trace_id": trace_id}) for step in steps),
        )


def warnings_of(
    plan: EvaluationPlan,
    rows: Sequence[TrialRow],
    summary: Sequence[SummaryRow],
    origins: Mapping[str, DataOrigin],
) -> list[str]:
    """The warnings of a report that follow from its trials."""
    return [
        *_gaps(plan, rows, origins),
        *sickly(rows),
        *_uneven(summary),
        *_ended_by_agents(rows),
    ]


_WITHOUT: Final = {
    "unscored": ", without a score",
    "failed": ", and counted as not passed and as passed, so scores are ranges",
}


def _gaps(
    plan: EvaluationPlan, rows: Sequence[TrialRow], origins: Mapping[str, DataOrigin]
) -> list[str]:
    """Warnings of what the scores lack."""
    warnings = []
    if any(row.user == SCRIPTED_USER and origins[row.domain].simulates_user for row in rows):
        warnings.append(
            "the user was scripted: it can answer, confirm and follow simple conditions of its "
            "task, and cannot bargain, insist or judge; these scores do not compare with published "
            "ones, which are made with a language-model user"
        )
    total = plan.total_trials
    if len(rows) < total:
        warnings.append(f"{total - len(rows)} of {total} trials not played")
    for status in ("unscored", "failed"):
        missing = [row for row in rows if row.status == status]
        if missing:
            reason, count = next(iter(failed_reasons(missing).items()))
            trials = "1 trial is" if len(missing) == 1 else f"{len(missing)} trials are"
            warnings.append(f"{trials} {status}{_WITHOUT[status]}; {count} by: {reason}")
    return warnings


def _is_answer(step: InteractionStep) -> bool:
    observed = step.provenance is Provenance.OBSERVED
    return observed and step.name == COMPLETION and step.error is None


def _uneven(summary: Sequence[SummaryRow]) -> list[str]:
    """Warnings where pass^k rests on fewer tasks than pass^1: they do not compare."""
    return [
        f"{row.participant} in {row.domain}: pass^{k} rests on {tasks} of {row.tasks_by_k['1']} "
        "scored tasks, for the others have too few scored trials"
        for row in summary
        for k, tasks in row.tasks_by_k.items()
        if tasks < row.tasks_by_k["1"]
    ][:MOST_WARNED]


def _ended_by_agents(trials: Sequence[TrialRow]) -> list[str]:
    """Warnings where agents ended trials themselves, with the most frequent reason."""
    warnings = []
    for participant, domain in dict.fromkeys((t.participant, t.domain) for t in trials):
        mine = [t for t in trials if (t.participant, t.domain) == (participant, domain)]
        reasons = Counter(t.reason for t in mine if t.fault == "agent" and t.reason is not None)
        if reasons:
            reason, count = min(reasons.items(), key=lambda item: (-item[1], item[0]))
            warnings.append(
                f"{participant} in {domain}: {reasons.total()} of {len(mine)} trials were ended by "
                f"an error of the agent and are scored 0; {count} by: {reason}"
            )
    return warnings
