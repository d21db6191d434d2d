"""play_exercise: one coordination exercise played once by one team, graded, with its trace."""

from __future__ import annotations

import logging
from functools import partial

from adk_agent.core.errors import ModelError
from adk_agent.play.diagnosis import diagnose_trial
from adk_agent.play.team_access import PEERS_KEY, TeamAccess
from adk_agent.play.trial import (
    TrialDeps,
    fault_of,
    outcome_of,
    recorder_of,
    row_of,
    unplayed_trial,
)
from adk_agent.play.visible import all_visible
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord
from evals.base import EvaluationContext
from evals.diagnosis import diagnose_answer
from evals.outcome import Fault, Outcome, TaskResult
from evals.reward import reward_of
from tau_bridge import coordination
from tau_bridge.a2a.messenger import Conversation
from tau_bridge.errors import BridgeError
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.users import NO_USER

logger = logging.getLogger(__name__)

_BROKEN_BY: dict[Fault | None, str] = {
    "agent": "agent_error",
    "infrastructure": "infrastructure_error",
}
"""How a conversation that broke is said to have ended, by the side at fault."""


async def play_exercise(job: TrialJob, deps: TrialDeps) -> TrialRecord:
    """The exercise's record. Whatever breaks makes it a *failed* trial; only cancelling raises."""
    exercise = coordination.exercise(job.task_id)
    team = deps.teams[job.participant.address]
    recorder = recorder_of(job, deps)
    asked = exercise.prompt + team.briefing()
    answer: str | None = None
    result: TaskResult | None = None
    async with team.turn():
        gone = deps.gone(job.participant.address)
        if gone is not None:
            return unplayed_trial(job, deps, gone)
        problems = team.turns.problems()
        started_s = deps.clock.monotonic_s()
        conversation = _conversation(job, deps, team, recorder)
        try:
            async with team.watched(recorder):
                reply = await conversation.send(asked)
            answer = team.redact(reply.as_text())
            result = exercise.grade(answer)
            outcome: Outcome = reward_of(result)
        except Exception as error:
            outcome = outcome_of(error, redact=team.redact)
            if not isinstance(error, BridgeError | ModelError):
                logger.exception("exercise %s broke", job.label)
        finally:
            await conversation.aclose()
        duration_ms = round((deps.clock.monotonic_s() - started_s) * 1000, 3)
    seen = await all_visible(recorder, conversation, team, believe=deps.believe_reports)
    context = EvaluationContext(
        trace=seen.trace,
        result=result,
        roster=team.roster,
        answer=answer,
        expected_answer=exercise.answer,
    )
    return TrialRecord(
        row=row_of(
            job,
            seen.trace,
            outcome,
            result=result,
            termination="answered" if answer is not None else broken_end(outcome),
            user=NO_USER,
            turns=int(answer is not None),
            duration_ms=duration_ms,
            diagnosis=diagnose_trial(
                outcome, result, partial(diagnose_answer, answer=answer or ""), label=job.label
            ),
        ),
        evaluations=await deps.team_evaluators.run(context),
        trace=seen.trace,
        trace_problems=(*problems, *seen.problems),
        roster=team.roster,
        messages=_messages(team.redact(asked), answer),
    )


def _conversation(
    job: TrialJob, deps: TrialDeps, team: TeamAccess, recorder: TraceRecorder
) -> Conversation:
    return deps.messenger.conversation(
        deps.urls[job.participant.address],
        recorder=recorder,
        callee=team.name,
        metadata={PEERS_KEY: dict(team.peers)} if team.peers else None,
    )


def broken_end(outcome: Outcome) -> str:
    """How a conversation that broke ended, as its row says it; `outcome` tells who is at fault."""
    return _BROKEN_BY.get(fault_of(outcome), "harness_error")


def _messages(prompt: str, answer: str | None) -> tuple[dict[str, str], ...]:
    said = [{"role": "user", "content": prompt}]
    return tuple(said if answer is None else [*said, {"role": "assistant", "content": answer}])
