"""play_trial: one task played once by one agent, scored, with its trace."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adk_agent.core.errors import ModelError
from adk_agent.core.models import LiteLlmCompletion
from adk_agent.core.plan import EvaluationPlan
from adk_agent.play.diagnosis import diagnose_played, diagnose_trial
from adk_agent.play.team_access import TeamAccess, Teams
from adk_agent.play.visible import all_visible
from adk_agent.results.summary import NOT_EVALUATED, TrialRow, total
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord
from evals.base import EvaluationContext
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
from evals.reward import action_reward, breakdown_of, reward_of
from evals.statements import AskModel, JudgementError, judge_statements
from evals.trace import CallType, InteractionStep, Provenance, Trace
from tau_bridge.a2a.messenger import Conversation, Messenger
from tau_bridge.business.tool_server import BusinessTools
from tau_bridge.clock import Clock, Runtime
from tau_bridge.errors import (
    AgentAccessError,
    AgentCanceledError,
    AgentError,
    AgentFaultError,
    AgentRejectedError,
    AgentSilentError,
    BridgeError,
)
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.agents import WireAgent
from tau_bridge.tau2.completion import COMPLETION
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.loop import (
    ConversationLimits,
    Played,
    converse,
)
from tau_bridge.tau2.messages import AssistantMessage, Message, ToolMessage, UserMessage, to_records
from tau_bridge.tau2.model_user import ModelUser
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.scoring import score_components
from tau_bridge.tau2.scripted_user import ScriptedUser
from tau_bridge.tau2.tasks import Task
from tau_bridge.tau2.users import NO_USER, User

logger = logging.getLogger(__name__)

JUDGE = "judge"
"""Who the trace says asked for verdicts on statements."""
TASK_METADATA_KEY = "greenroom.task"
"""Tells the bundled oracle which task it plays. Sent to nobody else."""


@dataclass(frozen=True, kw_only=True)
class TrialDeps:
    """What every trial of a run shares."""

    run_id: str
    plan: EvaluationPlan
    domains: Mapping[str, Domain]
    urls: Mapping[str, str]
    """Each participant's address in the plan to the address where it answers."""
    teams: Teams | Mapping[str, TeamAccess]
    messenger: Messenger
    clock: Clock
    evaluators: EvaluatorRegistry
    team_evaluators: EvaluatorRegistry
    """For exercises; they may ask a model more than is worth its price for every τ² trial."""
    gone: Callable[[str], str | None]
    """Why a participant, by its address, is given up; None while it is not."""
    believe_reports: bool = True
    """Whether what participants report of their own calls joins the trace."""
    user_model: LiteLlmCompletion | None
    judge_model: LiteLlmCompletion | None
    tools: BusinessTools | None = None
    """Served where the plan holds business scenarios."""


def unplayed_trial(job: TrialJob, deps: TrialDeps, reason: str) -> TrialRecord:
    """The record of a trial that was not begun, because its participant is gone."""
    trace = recorder_of(job, deps).trace()
    outcome = Failed(reason=reason, fault="infrastructure")
    row = row_of(
        job,
        trace,
        outcome,
        termination="infrastructure_error",
        user=NO_USER,
        diagnosis=diagnose_broken(outcome),
    )
    return TrialRecord(row=row, evaluations=(), trace=trace, messages=())


async def play_trial(job: TrialJob, deps: TrialDeps) -> TrialRecord:
    """The trial's record. Whatever breaks makes it a *failed* trial; only cancelling raises."""
    recorder = recorder_of(job, deps)
    started_s = deps.clock.monotonic_s()
    domain = deps.domains[job.domain]
    conversation = _conversation(job, deps, recorder)
    played: Played | None = None
    result: TaskResult | None = None
    user: User | None = None
    try:
        task = domain.source.task(job.domain, job.task_id)
        user = _user(job, deps, domain, task, recorder)
        played = await _converse(job, deps, task, user, conversation, recorder)
        result, outcome = await _score(played, deps, domain, task, recorder)
    except Exception as error:
        outcome = outcome_of(error)
        if not isinstance(error, BridgeError | ModelError):
            logger.exception("trial %s broke", job.label)
    team = deps.teams[job.participant.address]
    seen = await all_visible(recorder, conversation, team, believe=deps.believe_reports)
    # Repeats what the agent did, as often as it did it: long enough to hold up all other trials.
    diagnosis = await asyncio.to_thread(_diagnosis, job, deps, played, outcome, result, seen.trace)
    row = row_of(
        job,
        seen.trace,
        outcome,
        result=result,
        termination=played.termination if played is not None else "harness_error",
        user=user.label if user is not None else NO_USER,
        turns=played.turns if played is not None else 0,
        tool_calls=played.tool_calls if played is not None else 0,
        repairs=played.repairs if played is not None else (),
        duration_ms=round((deps.clock.monotonic_s() - started_s) * 1000, 3),
        diagnosis=diagnosis,
    )
    context = EvaluationContext(trace=seen.trace, result=result, roster=team.roster)
    return TrialRecord(
        row=row,
        evaluations=await deps.evaluators.run(context),
        trace=seen.trace,
        trace_problems=seen.problems,
        roster=team.roster,
        messages=tuple(to_records(played.messages if played is not None else ())),
    )


def _diagnosis(
    job: TrialJob,
    deps: TrialDeps,
    played: Played | None,
    outcome: Outcome,
    result: TaskResult | None,
    trace: Trace,
) -> Diagnosis | None:
    def explain(scored: TaskResult) -> Diagnosis:
        if played is None:
            msg = "what was not played has no components"
            raise RuntimeError(msg)
        domain = deps.domains[job.domain]
        return diagnose_played(
            domain,
            domain.source.task(job.domain, job.task_id),
            scored,
            played.messages,
            termination=played.termination,
            solo=deps.plan.solo,
            replies=played.repairs_by_reply,
            trace=trace,
        )

    if result is not None and deps.plan.evaluation_type == "action":
        result = result.model_copy(update={"basis": ("ACTION",)})
    return diagnose_trial(outcome, result, explain, label=job.label)


def row_of(
    job: TrialJob,
    trace: Trace,
    outcome: Outcome,
    *,
    termination: str,
    user: str,
    result: TaskResult | None = None,
    turns: int = 0,
    tool_calls: int = 0,
    repairs: Sequence[str] = (),
    duration_ms: float = 0.0,
    diagnosis: Diagnosis | None = None,
) -> TrialRow:
    """The report's row of a trial that came to `outcome`."""
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
        user=user,
        turns=turns,
        tool_calls=tool_calls,
        format_repairs=len(repairs),
        repair_kinds=dict(Counter(repairs)),
        duration_ms=duration_ms,
        total_tokens=total(step.total_tokens for step in _own_models(trace)),
        cost=total(step.cost for step in _own_models(trace)),
        trace_id=trace.trace_id,
        diagnosis=diagnosis,
    )


def _reason_of(outcome: Outcome) -> str | None:
    if not isinstance(outcome, Scored):
        return outcome.reason
    return None if outcome.agent_error is None else outcome.agent_error.text


def _own_models(trace: Trace) -> list[InteractionStep]:
    """The calls of the assessor's own models. What agents say that they cost is theirs to say."""
    return [step for step in trace.of_type(CallType.TOOL) if step.provenance is Provenance.OBSERVED]


def recorder_of(job: TrialJob, deps: TrialDeps) -> TraceRecorder:
    """The recorder of one trial."""
    # Identifiers follow from the run and the trial, so that a trace does not depend on the
    # order in which concurrent trials happen to proceed.
    key = f"{deps.run_id}\n{job.label}"
    trace_id = hashlib.blake2s(key.encode(), digest_size=8).hexdigest()
    numbers = itertools.count(1)
    runtime = Runtime(clock=deps.clock, new_id=lambda: f"{trace_id}.{next(numbers)}")
    return TraceRecorder(trace_id, runtime=runtime)


def _conversation(job: TrialJob, deps: TrialDeps, recorder: TraceRecorder) -> Conversation:
    knows_tasks = job.participant.builtin == "oracle"
    return deps.messenger.conversation(
        deps.urls[job.participant.address],
        recorder=recorder,
        callee=job.participant.address,
        metadata={TASK_METADATA_KEY: f"{job.domain}/{job.task_id}"} if knows_tasks else None,
    )


async def _converse(
    job: TrialJob,
    deps: TrialDeps,
    task: Task,
    user: User | None,
    conversation: Conversation,
    recorder: TraceRecorder,
) -> Played:
    world = new_world(deps.domains[job.domain], task, solo=deps.plan.solo)
    try:
        return await converse(
            task=task,
            world=world,
            agent=WireAgent(
                conversation,
                address=job.participant.address,
                world=world,
                solo=deps.plan.solo,
            ),
            user=user,
            limits=ConversationLimits(max_steps=deps.plan.max_steps),
            seed=job.seed,
            recorder=recorder,
        )
    finally:
        await conversation.aclose()


def _user(
    job: TrialJob, deps: TrialDeps, domain: Domain, task: Task, recorder: TraceRecorder
) -> User | None:
    if deps.plan.solo:
        return None
    tools = domain.user_schemas
    if deps.user_model is None:
        return ScriptedUser(task, tools=tools)
    return ModelUser(
        task,
        tools=tools,
        completion=deps.user_model.seeded(job.seed),
        model=deps.user_model.spec.name,
        domain=domain.name,
        guidelines=domain.source.user_guidelines(tools=bool(tools)),
        recorder=recorder,
    )


async def _score(
    played: Played, deps: TrialDeps, domain: Domain, task: Task, recorder: TraceRecorder
) -> tuple[TaskResult | None, Outcome]:
    verdicts, judge_problem = await _verdicts(played, deps, task, recorder)
    result = score_components(
        domain,
        task,
        played.messages,
        termination=played.termination,
        solo=deps.plan.solo,
        nl_verdicts=verdicts,
        nl_produced_by=f"llm:{deps.judge_model.spec.name}" if deps.judge_model else "rules",
    )
    if played.error is not None:
        return result, outcome_of(played.error)
    outcome = action_reward(result) if deps.plan.evaluation_type == "action" else reward_of(result)
    if isinstance(outcome, Unscored) and judge_problem is not None:
        return result, Failed(reason=judge_problem, fault="infrastructure")
    return result, outcome


async def _verdicts(
    played: Played, deps: TrialDeps, task: Task, recorder: TraceRecorder
) -> tuple[Mapping[str, bool] | None, str | None]:
    criteria = task.evaluation_criteria
    statements = criteria.nl_assertions if criteria is not None else None
    needed = criteria is not None and "NL_ASSERTION" in criteria.reward_basis
    if not statements or not needed or deps.judge_model is None or played.error is not None:
        return None, None
    model = deps.judge_model.of_trial(played.seed)
    judge = _recorded_judge(model, recorder)
    try:
        judged = await judge_statements(statements, transcript(played.messages), judge)
    except (ModelError, JudgementError) as error:
        model.forget_answers()  # a later try of this trial is to ask anew
        logger.warning("the judge of statements failed: %s", error)
        return None, f"the judge of natural-language statements failed: {error}"
    return {text: verdict.met for text, verdict in judged.items()}, None


def _recorded_judge(model: LiteLlmCompletion, recorder: TraceRecorder) -> AskModel:
    async def ask(prompt: str) -> str:
        step = recorder.begin(
            call_type=CallType.TOOL,
            caller=JUDGE,
            callee=model.spec.name,
            name=COMPLETION,
            request_text=prompt,
        )
        try:
            result = await model([{"role": "user", "content": prompt}])
        except BaseException as error:
            step.end(error=type(error).__name__)
            raise
        step.end(
            response_text=result.content,
            total_tokens=result.total_tokens,
            cost=result.cost,
            attributes=result.attributes,
        )
        return result.content or ""

    return ask


def transcript(messages: Sequence[Message]) -> str:
    """The conversation as a judge reads it: one line a message."""
    lines = []
    for message in messages:
        if isinstance(message, AssistantMessage | UserMessage):
            calls = ", ".join(call.name for call in message.tool_calls or ())
            lines.append(f"{message.role}: {message.text}{f' [calls {calls}]' if calls else ''}")
        elif isinstance(message, ToolMessage):
            lines.append(f"tool: {message.content or ''}")
    return "\n".join(lines)


def outcome_of(error: BaseException, *, redact: Callable[[str], str] = str) -> Scored | Failed:
    """The outcome of a trial that `error` ended: 0 where the agent did it, else none.

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
