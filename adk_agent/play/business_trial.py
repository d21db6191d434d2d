"""play_business: one business scenario played once by one agent, scored, with its trace."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from adk_agent.core.errors import ModelError, PreflightError
from adk_agent.play.diagnosis import diagnose_scenario, diagnose_trial
from adk_agent.play.exercise import broken_end
from adk_agent.play.trial import TrialDeps, outcome_of, recorder_of, row_of
from adk_agent.play.visible import all_visible
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord
from evals.base import EvaluationContext
from evals.outcome import Outcome, TaskResult
from evals.reward import reward_of
from tau_bridge.a2a.messenger import Conversation
from tau_bridge.a2a.networks import is_on_this_machine
from tau_bridge.business.caller import ScriptedCaller
from tau_bridge.business.scenarios import scenario
from tau_bridge.business.scoring import grade
from tau_bridge.business.tool_server import BusinessTools, ToolSession
from tau_bridge.business.world import CallMade
from tau_bridge.errors import BridgeError
from tau_bridge.tau2.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    to_records,
)

logger = logging.getLogger(__name__)

USER_LABEL = "scripted"


@dataclass(kw_only=True)
class _Played:
    """A conversation as far as it came."""

    messages: list[Message] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    ended: bool = False
    """Whether the user had nothing more to say."""


async def play_business(job: TrialJob, deps: TrialDeps) -> TrialRecord:
    """The scenario's record. Whatever breaks while it is played makes it a *failed* trial.

    Raises:
        UnknownTaskError: there is no such scenario, which a plan makes sure of.
    """
    recorder = recorder_of(job, deps)
    team = deps.teams[job.participant.address]
    started_s = deps.clock.monotonic_s()
    played = _Played()
    result: TaskResult | None = None
    with _tools(deps).session(
        scenario(job.task_id), recorder=recorder, caller=team.name
    ) as session:
        conversation = deps.messenger.conversation(
            deps.urls[job.participant.address],
            recorder=recorder,
            callee=team.name,
            metadata=_metadata(session, deps),
        )
        try:
            await _converse(session, conversation, played)
            result = grade(session.world, played.answers)
            outcome: Outcome = reward_of(result)
        except Exception as error:
            outcome = outcome_of(error)
            if not isinstance(error, BridgeError | ModelError):
                logger.exception("scenario %s broke", job.label)
        finally:
            await conversation.aclose()
        tool_calls = len(session.world.calls)
        diagnosis = diagnose_trial(
            outcome,
            result,
            partial(diagnose_scenario, session.world, messages=played.messages),
            label=job.label,
        )
    duration_ms = round((deps.clock.monotonic_s() - started_s) * 1000, 3)
    seen = await all_visible(recorder, conversation, team, believe=deps.believe_reports)
    context = EvaluationContext(trace=seen.trace, result=result, roster=team.roster)
    return TrialRecord(
        row=row_of(
            job,
            seen.trace,
            outcome,
            result=result,
            termination="user_stop" if played.ended else broken_end(outcome),
            user=USER_LABEL,
            turns=len(played.answers),
            tool_calls=tool_calls,
            duration_ms=duration_ms,
            diagnosis=diagnosis,
        ),
        evaluations=await deps.evaluators.run(context),
        trace=seen.trace,
        trace_problems=seen.problems,
        roster=team.roster,
        messages=tuple(to_records(played.messages)),
    )


@contextlib.asynccontextmanager
async def served_tools(url: str | None, agents: Mapping[str, str]) -> AsyncIterator[BusinessTools]:
    """The tools of scenarios, served to the agents of a run.

    Args:
        url: At which agents on other machines reach them; None: on loopback alone.
        agents: Each participant's address in the plan to the address where it answers.

    Raises:
        PreflightError: an agent cannot reach them, or they cannot be served.
    """
    elsewhere = sorted(address for address, at in agents.items() if not is_on_this_machine(at))
    if elsewhere and url is None:
        raise PreflightError(
            f"cannot play business scenarios with {', '.join(elsewhere)}: their tools are served on "
            "127.0.0.1, which an agent on another machine cannot reach. Run the agent on this "
            "machine and name it by http://localhost:<port>, or say by GREENROOM_TOOLS_URL at which "
            "address it reaches this machine"
        )
    async with contextlib.AsyncExitStack() as stack:
        try:
            tools = await stack.enter_async_context(BusinessTools(url=url))
        except (OSError, ValueError) as error:
            where = f" at {url}" if url else ""
            raise PreflightError(
                f"the tools of business scenarios cannot be served{where}: {error}; leave the port "
                "out of GREENROOM_TOOLS_URL to have a free one taken"
            ) from error
        yield tools


def _tools(deps: TrialDeps) -> BusinessTools:
    if deps.tools is None:
        msg = "no tools are served for the scenarios of this run"
        raise RuntimeError(msg)
    return deps.tools


def _metadata(session: ToolSession, deps: TrialDeps) -> dict[str, Any]:
    """What goes along with the first message."""
    return {
        "policy_doc": session.world.scenario.policy,
        "tools_endpoint": _tools(deps).endpoint,
        "session_id": session.id,
    }


async def _converse(session: ToolSession, conversation: Conversation, played: _Played) -> None:
    caller = ScriptedCaller(session.world.scenario)
    text = caller.opening
    while True:
        played.messages.append(UserMessage(content=text))
        made_before = len(session.world.calls)
        try:
            reply = await conversation.send(text)
        finally:
            calls = session.world.calls[made_before:]
            played.messages += _told(calls, first=made_before + 1)
        answer = reply.as_text()
        played.answers.append(answer)
        played.messages.append(AssistantMessage(content=answer))
        line = caller.next(answer)
        if line is None:
            played.ended = True
            return
        session.world.decide(line.decides)
        text = line.text


def _told(calls: list[CallMade], *, first: int) -> list[Message]:
    """Calls as messages: each by the agent, with its result."""
    messages: list[Message] = []
    for number, call in enumerate(calls, start=first):
        call_id = f"call-{number}"
        made = ToolCall(id=call_id, name=call.tool, arguments=dict(call.arguments))
        content = call.error if call.error is not None else json.dumps(call.result)
        messages += [
            AssistantMessage(tool_calls=(made,)),
            ToolMessage(id=call_id, content=content, error=call.error is not None),
        ]
    return messages
