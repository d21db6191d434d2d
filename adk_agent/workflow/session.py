"""WorkflowPipeline: one message through ADK's agents, in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adk_agent.conversation.outcome import Outcome
from adk_agent.conversation.replies import Answer, Reading
from adk_agent.core.errors import GreenroomError
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.requests.intent import Situation
from adk_agent.results.progress import OnProgress, Progress, silent
from adk_agent.results.report import EvaluationReport, OnReport, ignored
from adk_agent.workflow import state
from adk_agent.workflow.runner import PROGRESS

if TYPE_CHECKING:
    from google.adk.agents.base_agent import BaseAgent
    from google.adk.events import Event

APP_NAME = "greenroom"


class WorkflowPipeline:
    """A `Pipeline` that runs each message in a new session with a new workflow.

    Args:
        new_agent: Builds a workflow that passes its report to a function.
    """

    def __init__(self, new_agent: Callable[[OnReport], BaseAgent]) -> None:
        self._new_agent = new_agent

    async def read(self, text: str, situation: Situation) -> Reading:
        """See `Pipeline`."""
        selector = self._new_agent(ignored).sub_agents[0]
        selector.parent_agent = None  # it works alone
        left = await _session_after(selector, text, state.values_of(situation), silent, None)
        problem = state.problem(left)
        if problem is not None:
            raise problem.error()
        reading = state.reading(left)
        if reading is None:
            raise GreenroomError("the selector read nothing; this is a fault of greenroom")
        return reading

    async def run_request(
        self,
        text: str,
        *,
        situation: Situation | None = None,
        reading: Reading | None = None,
        overrides: Overrides | None = None,
        on_progress: OnProgress = silent,
        session_id: str | None = None,
        confirmed: bool = False,
    ) -> Outcome:
        """See `Pipeline`."""
        values = {
            **state.values_of(situation or Situation()),
            state.OVERRIDES: (overrides or Overrides()).model_dump_json(),
            state.GIVEN_READING: None if reading is None else state.dumped_reading(reading),
            state.CONFIRMED: confirmed,
        }
        return await self._run(text, values, on_progress, session_id)

    async def run_plan(
        self,
        plan: EvaluationPlan,
        *,
        request: str,
        on_progress: OnProgress = silent,
        session_id: str | None = None,
        resumed_run_id: str | None = None,
    ) -> Outcome:
        """See `Pipeline`."""
        values = {state.GIVEN_PLAN: plan.model_dump_json(), state.RESUMED: resumed_run_id}
        return await self._run(request, values, on_progress, session_id)

    async def _run(
        self, text: str, values: Mapping[str, Any], on_progress: OnProgress, session_id: str | None
    ) -> Outcome:
        reports: list[EvaluationReport] = []
        agent = self._new_agent(reports.append)
        left = await _session_after(agent, text, values, on_progress, session_id)
        words = left.get(state.INTERPRETATION)
        reply = state.reply(left)
        if isinstance(reply, Answer) and isinstance(words, str):
            reply = replace(reply, text=words)  # a model may have worded it
        return Outcome(
            run_id=left.get(state.RUN_ID),
            report=next(iter(reports), None),
            interpretation=words,
            reply=reply,
            problem=state.problem(left),
        )


async def _session_after(
    agent: BaseAgent,
    text: str,
    values: Mapping[str, Any],
    on_progress: OnProgress,
    session_id: str | None,
) -> Mapping[str, Any]:
    """Return the state of a new session after one message to an agent."""
    from google.adk.runners import Runner
    from google.adk.sessions import InMemorySessionService
    from google.genai import types

    # No artifacts are kept: what would be offered lies in the run's folder.
    sessions = InMemorySessionService()
    runner = Runner(agent=agent, app_name=APP_NAME, session_service=sessions)
    session = await sessions.create_session(
        app_name=APP_NAME, user_id=APP_NAME, session_id=session_id, state=dict(values)
    )
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = runner.run_async(user_id=APP_NAME, session_id=session.id, new_message=message)
    async with contextlib.aclosing(events):
        async for event in events:
            progress = progress_of(event)
            if progress is not None:
                on_progress(progress)
    ended = await sessions.get_session(app_name=APP_NAME, user_id=APP_NAME, session_id=session.id)
    return ended.state if ended is not None else {}


def progress_of(event: Event) -> Progress | None:
    """Return the progress in an event; None for every other event."""
    value = (event.custom_metadata or {}).get(PROGRESS)
    return None if value is None else Progress.model_validate(value)
