"""play_trial: one task played once by one agent, scored, with its trace.

What is the same whatever is played: the recorder, the conversation, whose fault it was that a trial
broke, the diagnosis, the evaluators and the record. The benchmark plays and scores.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

from adk_agent.core.embeddings import LiteLlmEmbedding
from adk_agent.core.errors import ModelError
from adk_agent.core.models import LiteLlmCompletion
from adk_agent.core.plan import NEEDS_GOLD, EvaluationPlan
from adk_agent.core.spending import NOTHING_SPENT, Meter, Spending, metered
from adk_agent.play.diagnosis import diagnose_trial
from adk_agent.play.judging import RecordedJudge
from adk_agent.play.team_access import TeamAccess, Teams
from adk_agent.play.trace_merging import merged_trace
from adk_agent.play.trial_values import unexplained_in
from adk_agent.play.user_check import checked_user, user_seed
from adk_agent.results.agent_usage import trial_usage
from adk_agent.results.robustness import FaultedTrial
from adk_agent.results.summary import NOT_EVALUATED, TrialRow
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.live import LiveConversations
from adk_agent.runs.store import FaultedPlay, RepeatedPlay, TrialRecord
from evals.attribution.evaluator import AttributionEvaluator, attribution_in
from evals.attribution.model import Attribution
from evals.base import Evaluation, EvaluationContext
from evals.diagnosis import Diagnosis, diagnose_broken
from evals.driver import EvaluatorRegistry
from evals.outcome import (
    AgentErrorEnd,
    AgentErrorKind,
    Failed,
    Fault,
    Outcome,
    Scored,
    TaskResult,
    Unscored,
)
from evals.reward import breakdown_of, reward_of
from evals.trace import Trace
from evals.user_check import UserCheck
from tau_bridge.a2a.messenger import Conversation, Messenger
from tau_bridge.benchmark import MODEL_USER, Benchmark, PlayContext, Played, UserModel
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.chaos.injector import Injector
from tau_bridge.chaos.profiles import ChaosPlan, Family
from tau_bridge.chaos.safety import blind_writes, repeated_writes
from tau_bridge.clock import Clock, Runtime
from tau_bridge.embedding import EmbeddingModel
from tau_bridge.errors import (
    AgentAccessError,
    AgentCanceledError,
    AgentError,
    AgentFaultError,
    AgentRejectedError,
    AgentSilentError,
    BridgeError,
)
from tau_bridge.otlp.inbox import RunSpans, TrialSpans
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tool_server import ToolServer
from tau_bridge.trace_merging import Merged

logger = logging.getLogger(__name__)

TASK_METADATA_KEY = "greenroom.task"
"""The key that tells the bundled agents in `NEEDS_GOLD` which task they play. Sent to nobody else."""
_BROKEN_BY: dict[Fault | None, str] = {
    "agent": "agent_error",
    "infrastructure": "infrastructure_error",
}
"""The termination of a conversation that broke, by the side at fault."""
_NOT_PLAYED = Played()


@dataclass(frozen=True, kw_only=True)
class PlayDeps:
    """The part of an evaluation's dependencies that a worker makes for itself."""

    benchmarks: Benchmarks
    """All that there are; a plan's own options are applied to them."""
    runtime: Runtime
    evaluators: EvaluatorRegistry
    """For trials, for participants and for the run."""
    team_evaluators: EvaluatorRegistry
    """For trials in which a team is watched."""
    new_messenger: Callable[[], Messenger]


@dataclass(frozen=True, kw_only=True)
class TrialDeps:
    """The dependencies that all trials of a run share."""

    run_id: str
    plan: EvaluationPlan
    benchmarks: Benchmarks
    """With the options of the plan."""
    urls: Mapping[str, str]
    """Each participant's address in the plan to the address where it answers."""
    teams: Teams | Mapping[str, TeamAccess]
    messenger: Messenger
    clock: Clock
    evaluators: EvaluatorRegistry
    team_evaluators: EvaluatorRegistry
    """For watched teams; they may ask a model more than is worth its price for every trial."""
    gone: Callable[[str], str | None]
    """Returns why the participant at an address is given up; None while it is not."""
    trust_reported_steps: bool = True
    """True if what participants report of their own calls joins the trace."""
    user_model: LiteLlmCompletion | None
    judge_model: LiteLlmCompletion | None
    embedding_model: LiteLlmEmbedding | None = None
    """Makes vectors of texts where a domain of the plan needs them."""
    tools: ToolServer | None = None
    """Served where a domain of the plan needs tools."""
    live: LiveConversations | None = None
    """Shows conversations while they go on; None where nobody can read them."""
    spans: RunSpans | None = None
    """Receives the spans of agents; None where nothing is received."""

    def watches_team(self, domain: str) -> bool:
        """Tell whether the calls between the members of a team are watched in a domain."""
        return "team" in self.benchmarks.domain(domain).needs

    @property
    def takes_turns(self) -> bool:
        """Tell whether a team plays one task at a time, so that its calls belong to that task."""
        return any(self.watches_team(planned.domain) for planned in self.plan.tasks)


def unplayed_trial(job: TrialJob, deps: TrialDeps, reason: str) -> TrialRecord:
    """Return the record of a trial that was not begun, because its participant is gone."""
    trace = recorder_of(job, deps).trace()
    outcome = Failed(reason=reason, fault="infrastructure")
    row = row_of(
        job,
        trace,
        outcome,
        termination="infrastructure_error",
        diagnosis=diagnose_broken(outcome),
    )
    return TrialRecord(row=row, evaluations=(), trace=trace, messages=())


async def play_trial(job: TrialJob, deps: TrialDeps) -> TrialRecord:
    """Return the trial's record. Whatever breaks makes it *failed*; only cancelling raises."""
    record = await _play_until_user_keeps_to_its_part(job, deps)
    chaos = deps.plan.chaos
    if chaos is None or record.row.status != "scored":
        return record
    injectable = deps.benchmarks.of(job.domain).injectable()
    if deps.watches_team(job.domain) and deps.teams[job.participant.address].is_observed:
        injectable |= {"members"}
    families = [family for family in chaos.families if family in injectable]
    spent, plays = record.spent, []
    for family in families:
        with metered() as meter:
            plays.append(await _play_under(family, chaos, job, deps, record))
        spent += meter.spent
    return record.model_copy(update={"chaos": tuple(plays), "spent": spent})


async def _play_until_user_keeps_to_its_part(job: TrialJob, deps: TrialDeps) -> TrialRecord:
    """Play a trial, and again while its user has a proven fault, as often as the plan allows.

    The last play counts, unless it failed: then the one before does, with its user's fault.
    """
    record = await _play_once(job, deps, play=0)
    spent, others = record.spent, []
    for play in range(1, deps.plan.retry_user + 1):
        if record.row.status == "failed" or not record.row.has_user_fault:
            break
        again = await _play_once(job, deps, play=play)
        spent += again.spent
        counts = again.row.status != "failed"
        others.append(_set_aside(record if counts else again))
        record = again if counts else record
    return record.model_copy(update={"repeated": tuple(others), "spent": spent})


async def _play_once(job: TrialJob, deps: TrialDeps, *, play: int) -> TrialRecord:
    team = deps.teams[job.participant.address]
    trial = _Trial(job, deps, team, play=play)
    with metered() as meter:
        with trial.receiving_spans():
            async with team.turn() if deps.takes_turns else contextlib.nullcontext():
                gone = deps.gone(job.participant.address)
                if gone is not None:
                    return unplayed_trial(job, deps, gone)
                await trial.play()
            await trial.wait_for_spans()
        return await trial.record(meter)


def _set_aside(record: TrialRecord) -> RepeatedPlay:
    return RepeatedPlay(row=record.row, trace=record.trace, messages=record.messages)


async def _play_under(
    family: Family, chaos: ChaosPlan, job: TrialJob, deps: TrialDeps, plain: TrialRecord
) -> FaultedPlay:
    """Play a trial once more, under the faults of a family."""
    team = deps.teams[job.participant.address]
    faults = Injector(f"{job.domain}/{job.task_id}/{family}", seed=job.seed, rates=chaos.of(family))
    trial = _Trial(job, deps, team, play=plain.row.play, family=family, faults=faults)
    async with team.turn() if deps.takes_turns else contextlib.nullcontext():
        await trial.play()
    return trial.faulted(plain)


class _Trial:
    """A trial, from its first message to its record: `play` it, then take the `record`."""

    def __init__(
        self,
        job: TrialJob,
        deps: TrialDeps,
        team: TeamAccess,
        *,
        play: int = 0,
        family: Family | None = None,
        faults: Injector | None = None,
    ) -> None:
        self._job = job
        self._number = play
        # A seed among the model's own arguments wins.
        self._user_seed = deps.plan.user_llm_args.get("seed", user_seed(job.seed, play))
        self._family = family
        self._faults = faults
        self._deps = deps
        self._team = team
        self._benchmark = deps.benchmarks.of(job.domain)
        self._ref = self._benchmark.ref(job.domain, job.task_id)
        self._watched = deps.watches_team(job.domain)
        # Beside its plain trial, one under faults would be shown live as the same conversation.
        variant = family or (f"user {play}" if play else None)
        self._recorder = recorder_of(
            job, deps, redact=None if variant else team.redact, variant=variant
        )
        self._problems: tuple[str, ...] = ()
        self._seen_problems: list[str] = []
        self._duration_ms = 0.0
        self._waited_s = 0.0
        """For what the agent does once it has replied, which is no part of the duration."""
        self._spans: TrialSpans | None = None
        self._waited_for_spans = False
        self._played: Played | None = None
        self._result: TaskResult | None = None
        self._judge: RecordedJudge | None = None
        self._user_check: UserCheck | None = None
        self._outcome: Outcome

    async def play(self) -> None:
        """Play it and score it, with nothing left open."""
        clock = self._deps.clock
        self._problems = self._team.turns.problems() if self._watched else ()
        started_s = clock.monotonic_s()
        self._conversation = self._opened_conversation()
        try:
            self._played = await self._play(self._conversation)
            self._result, self._outcome = await self._scored(self._played)
            self._user_check = await self._checked(self._played)
        except Exception as error:
            self._outcome = outcome_of(error, redact=self._team.redact)
            if not isinstance(error, BridgeError | ModelError):
                logger.exception("trial %s broke", self._job.label)
        finally:
            await self._conversation.aclose()
        lasted_s = clock.monotonic_s() - started_s - self._waited_s
        self._duration_ms = round(lasted_s * 1000, 3)

    @contextlib.contextmanager
    def receiving_spans(self) -> Iterator[None]:
        """Keep the spans of agents that come while the block lasts, if any are received."""
        if self._deps.spans is None:
            yield
            return
        with self._deps.spans.trial(self._recorder.trace_id) as self._spans:
            yield

    async def wait_for_spans(self) -> None:
        """Wait once for spans that are still on their way, if the agent was asked anything."""
        if self._deps.spans is None or self._waited_for_spans or not self._recorder.trace().steps:
            return
        await self._timed(self._deps.spans.wait())
        self._waited_for_spans = True

    async def _let_finish(self) -> None:
        """Wait for a watched team that is still at work though it has replied."""
        if self._watched:
            await self._timed(self._team.settle())

    async def _timed(self, waiting: Awaitable[None]) -> None:
        began_s = self._deps.clock.monotonic_s()
        await waiting
        self._waited_s += self._deps.clock.monotonic_s() - began_s

    def _opened_conversation(self) -> Conversation:
        job = self._job
        knows_tasks = job.participant.builtin in NEEDS_GOLD
        return self._deps.messenger.conversation(
            self._deps.urls[job.participant.address],
            recorder=self._recorder,
            callee=self._team.name,
            metadata={TASK_METADATA_KEY: f"{job.domain}/{job.task_id}"} if knows_tasks else None,
            faults=self._faults,
            asks_confidence=self._deps.plan.confidence,
        )

    async def _play(self, conversation: Conversation) -> Played:
        job, deps = self._job, self._deps
        model, embedding = deps.user_model, deps.embedding_model
        context = PlayContext(
            seed=job.seed,
            max_steps=deps.plan.max_steps,
            clock=deps.clock,
            recorder=self._recorder,
            address=job.participant.address,
            team=self._team,
            user_model=None
            if model is None
            else UserModel(name=model.spec.name, completion=model.seeded(self._user_seed)),
            tools=deps.tools,
            trace=self._whole_trace,
            embedding_model=None
            if embedding is None
            else EmbeddingModel(name=embedding.spec.name, embed=embedding),
            faults=self._faults,
        )
        team = self._team
        watching = team.watched(self._recorder, faults=self._faults) if self._watched else None
        async with watching or contextlib.nullcontext() as problems:
            if problems is not None:
                self._seen_problems = problems
            played = await self._benchmark.play(self._ref, conversation, context)
            await self._let_finish()
            return played

    async def _whole_trace(self) -> Trace:
        """Return the trace of what was played; nothing more may be asked of the agent."""
        await self._let_finish()
        await self.wait_for_spans()
        return (await self._merged()).trace

    async def _merged(self) -> Merged:
        return await merged_trace(
            self._recorder,
            self._conversation,
            self._team,
            trust_reports=self._deps.trust_reported_steps,
            spans=self._spans,
        )

    async def _scored(self, played: Played) -> tuple[TaskResult | None, Outcome]:
        model = self._deps.judge_model
        judge = (
            None if model is None else RecordedJudge(model.of_trial(self._job.seed), self._recorder)
        )
        self._judge = judge
        result = await self._benchmark.score(self._ref, played, judge)
        if played.error is not None:
            return result, outcome_of(played.error, redact=self._team.redact)
        if result is None:
            return None, Unscored(reason=f"{self._benchmark.name} gave no result")
        outcome = reward_of(counting(self._benchmark, result))
        if isinstance(outcome, Unscored) and judge is not None and judge.problem is not None:
            return result, Failed(reason=judge.problem, fault="infrastructure")
        return result, outcome

    async def _checked(self, played: Played) -> UserCheck | None:
        if self._faults is not None:
            return None
        judge = self._judge if self._deps.plan.judge_user else None
        return await checked_user(played, self._benchmark, self._ref, judge, label=self._job.label)

    async def record(self, meter: Meter) -> TrialRecord:
        """Return what is kept of it: its row, trace, messages, and what the evaluators say.

        Args:
            meter: Counts the calls of the assessor's own models, the evaluators' too.
        """
        deps, played = self._deps, self._played or _NOT_PLAYED
        seen = await self._merged()
        # May repeat what the agent did: long enough to hold up all other trials.
        diagnosis, unexplained = await asyncio.to_thread(self._examined, seen.trace)
        context = EvaluationContext(
            trace=seen.trace,
            result=self._result,
            roster=self._team.roster,
            answer=played.answer,
            expected_answer=played.expected_answer,
            outcome=self._outcome,
            departed_at=_departed_at(diagnosis),
            not_communicated=() if diagnosis is None else diagnosis.not_communicated,
        )
        evaluators = deps.team_evaluators if self._watched else deps.evaluators
        evaluations = await evaluators.run(context)
        attribution, evaluations = _taken_out(evaluations)
        row = row_of(
            self._job,
            seen.trace,
            self._outcome,
            played=played,
            result=self._result,
            termination=played.termination or broken_end(self._outcome),
            duration_ms=self._duration_ms,
            diagnosis=diagnosis,
            attribution=attribution,
            spent=meter.spent,
            stated_confidence=self._conversation.stated_confidence,
            user_check=self._user_check,
            play=self._number,
            user_seed=self._user_seed if played.user.startswith(MODEL_USER) else None,
        )
        return TrialRecord(
            row=row,
            evaluations=evaluations,
            trace=seen.trace,
            trace_problems=(*self._problems, *self._seen_problems, *seen.problems),
            roster=self._team.roster,
            messages=tuple(dict(message) for message in played.messages),
            unexplained=unexplained,
            judged=() if self._judge is None else tuple(self._judge.verdicts),
            spent=meter.spent,
        )

    def _examined(self, trace: Trace) -> tuple[Diagnosis | None, tuple[str, ...]]:
        """Return why the trial did not pass, and the values that its agent had from elsewhere."""
        played, opening = self._played or _NOT_PLAYED, self._conversation.opening
        try:
            unexplained = unexplained_in(trace, played, opening, self._ref, self._benchmark)
        except Exception:  # nothing that breaks in here reaches the trial
            logger.exception("the values of %s cannot be compared", self._job.label)
            unexplained = ()
        return self._diagnosis(trace), unexplained

    def faulted(self, plain: TrialRecord) -> FaultedPlay:
        """Return what is kept of a trial under faults; it is neither diagnosed nor evaluated."""
        if self._family is None or self._faults is None:
            raise RuntimeError("the trial was played plain")
        played, trace = self._played or _NOT_PLAYED, self._recorder.trace()
        messages, faults = tuple(map(dict, played.messages)), tuple(self._faults.faults)
        repeated = blind = None
        if "tools" in self._benchmark.injectable():  # so its messages hold the calls of tools
            writes = self._benchmark.writes(self._ref)
            repeated = repeated_writes(messages, plain.messages, faults, writes)
            blind = blind_writes(messages, faults, writes)
        row = row_of(
            self._job,
            trace,
            self._outcome,
            played=played,
            result=self._result,
            termination=played.termination or broken_end(self._outcome),
            duration_ms=self._duration_ms,
        )
        result = FaultedTrial(
            family=self._family,
            row=row,
            faults=faults,
            repeated_writes=repeated,
            blind_writes=blind,
        )
        return FaultedPlay(result=result, trace=trace, messages=messages)

    def _diagnosis(self, trace: Trace) -> Diagnosis | None:
        def explain(result: TaskResult) -> Diagnosis | None:
            if self._played is None:
                raise RuntimeError("what was not played has no components")
            return self._benchmark.explain(self._ref, self._played, result, trace)

        counted = None if self._result is None else counting(self._benchmark, self._result)
        return diagnose_trial(self._outcome, counted, explain, label=self._job.label)


def counting(benchmark: Benchmark, result: TaskResult) -> TaskResult:
    """Return a result with the components that count by the benchmark's options."""
    basis = benchmark.basis()
    return result if basis is None else result.model_copy(update={"basis": basis})


def row_of(
    job: TrialJob,
    trace: Trace,
    outcome: Outcome,
    *,
    termination: str,
    played: Played = _NOT_PLAYED,
    result: TaskResult | None = None,
    duration_ms: float = 0.0,
    diagnosis: Diagnosis | None = None,
    attribution: Attribution | None = None,
    spent: Spending = NOTHING_SPENT,
    stated_confidence: float | None = None,
    user_check: UserCheck | None = None,
    user_seed: int | None = None,
    play: int = 0,
) -> TrialRow:
    """Return the report's row of a trial that came to `outcome`."""
    return TrialRow(
        participant=job.participant.address,
        domain=job.domain,
        task_id=job.task_id,
        trial=job.trial,
        seed=job.seed,
        status=outcome.status,
        reward=outcome.value if isinstance(outcome, Scored) else None,
        reward_breakdown=breakdown_of(result) if result else {},
        components=result.components if result else (),
        basis=result.basis if result else (),
        reason=_reason_of(outcome),
        fault=fault_of(outcome),
        produced_by=outcome.produced_by if isinstance(outcome, Scored) else None,
        termination=termination,
        user=played.user,
        turns=played.turns,
        tool_calls=played.tool_calls,
        format_repairs=len(played.repairs),
        repair_kinds=dict(Counter(played.repairs)),
        duration_ms=duration_ms,
        total_tokens=spent.known_tokens,
        cost=spent.known_cost,
        agent_usage=trial_usage(trace),
        trace_id=trace.trace_id,
        diagnosis=diagnosis,
        user_check=user_check,
        play=play,
        user_seed=user_seed,
        attribution=attribution,
        stated_confidence=stated_confidence,
    )


def _departed_at(diagnosis: Diagnosis | None) -> str | None:
    departure = diagnosis.departure if diagnosis is not None else None
    return departure.step_id if departure is not None else None


def _taken_out(
    evaluations: tuple[Evaluation, ...],
) -> tuple[Attribution | None, tuple[Evaluation, ...]]:
    """Return the attribution, which belongs to the row, and the other evaluations.

    One that broke, or that warns, stays among them to say so. Where there was nothing to attribute,
    as in every trial that passed, nothing is kept.
    """
    found = next(filter(None, map(attribution_in, evaluations)), None)
    kept = tuple(
        each
        for each in evaluations
        if each.evaluator != AttributionEvaluator.name or each.status == "failed" or each.warnings
    )
    return found, kept


def _reason_of(outcome: Outcome) -> str | None:
    if not isinstance(outcome, Scored):
        return outcome.reason
    return None if outcome.agent_error is None else outcome.agent_error.text


def recorder_of(
    job: TrialJob,
    deps: TrialDeps,
    *,
    redact: Callable[[str], str] | None = None,
    variant: str | None = None,
) -> TraceRecorder:
    """Build the recorder of one trial.

    Args:
        job: The trial.
        deps: What the trials share.
        redact: Takes out of a text what must not be told, where the conversation may be read while
            it goes on; None where it never begins, or nobody is to follow it.
        variant: Tells a play under faults, or one more play, from the trial's first; None: it is
            that one.
    """
    # Identifiers follow from the run and the trial, so that a trace does not depend on the
    # order in which concurrent trials happen to proceed.
    key = f"{deps.run_id}\n{job.label}" + (f"\n{variant}" if variant else "")
    trace_id = hashlib.blake2s(key.encode(), digest_size=8).hexdigest()
    numbers = itertools.count(1)
    runtime = Runtime(clock=deps.clock, new_id=lambda: f"{trace_id}.{next(numbers)}")
    observer = (
        None
        if deps.live is None or redact is None
        else deps.live.observer(job, trace_id, redact=redact)
    )
    return TraceRecorder(trace_id, runtime=runtime, observer=observer)


def outcome_of(error: BaseException, *, redact: Callable[[str], str] = str) -> Scored | Failed:
    """Return the outcome of a trial that `error` ended: 0 where the agent is at fault, else none.

    Args:
        error: What ended it.
        redact: Takes out of its text what must not be told.
    """
    text = redact(str(error))
    if isinstance(error, AgentFaultError):
        ending = AgentErrorEnd(kind=_kind_of(error), text=text)
        return Scored(value=0.0, produced_by="rules", agent_error=ending)
    if isinstance(error, AgentAccessError):
        return Failed(reason=f"{NOT_EVALUATED}{text}", fault=error.fault)
    if isinstance(error, AgentError):
        return Failed(reason=text, fault=error.fault)
    fault: Fault = "infrastructure" if isinstance(error, ModelError) else "harness"
    if isinstance(error, BridgeError):
        fault = error.fault
    return Failed(reason=f"{type(error).__name__}: {text}", fault=fault)


def _kind_of(error: AgentFaultError) -> AgentErrorKind:
    if isinstance(error, AgentRejectedError | AgentCanceledError):
        return "gave_up"
    return "no_reply" if isinstance(error, AgentSilentError) else "agent_error"


def fault_of(outcome: Outcome) -> Fault | None:
    """On whose side a trial broke; None where it was played to its end."""
    if isinstance(outcome, Scored):
        return None if outcome.agent_error is None else "agent"
    return outcome.fault if isinstance(outcome, Failed) else None


def broken_end(outcome: Outcome) -> str:
    """Name the termination of a conversation that broke; `outcome` tells who is at fault."""
    return _BROKEN_BY.get(fault_of(outcome), "harness_error")
