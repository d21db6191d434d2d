"""run_request: one request through the workflow in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_agent import state
from adk_agent.plan import Overrides
from adk_agent.progress import Progress
from adk_agent.runner import PROGRESS

if TYPE_CHECKING:
    from google.adk.agents import BaseAgent
    from google.adk.events import Event

APP_NAME = "greenroom"


@dataclass(frozen=True, kw_only=True)
class WorkflowResult:
    """How a request ended: a run with its prose, or a problem."""

    run_id: str | None
    interpretation: str | None
    problem: state.Problem | None


async def run_request(
    root_agent: BaseAgent,
    text: str,
    *,
    overrides: Overrides,
    on_progress: Callable[[Progress], Awaitable[None]],
    session_id: str | None = None,
) -> WorkflowResult:
    """Run the workflow over one request, in a session of its own."""
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(agent=root_agent, app_name=APP_NAME)
    session = await runner.session_service.create_session(
        app_name=APP_NAME,
        user_id=APP_NAME,
        session_id=session_id,
        state={state.OVERRIDES: overrides.model_dump_json()},
    )
    message = types.Content(role="user", parts=[types.Part(text=text)])
    events = runner.run_async(user_id=APP_NAME, session_id=session.id, new_message=message)
    async with contextlib.aclosing(events):
        async for event in events:
            progress = progress_of(event)
            if progress is not None:
                await on_progress(progress)
    ended = await runner.session_service.get_session(
        app_name=APP_NAME, user_id=APP_NAME, session_id=session.id
    )
    return _result(ended.state if ended is not None else {})


def progress_of(event: Event) -> Progress | None:
    """The progress that an event tells of, None for every other event."""
    value = (event.custom_metadata or {}).get(PROGRESS)
    return None if value is None else Progress.model_validate(value)


def _result(values: Mapping[str, Any]) -> WorkflowResult:
    return WorkflowResult(
        run_id=values.get(state.RUN_ID),
        interpretation=values.get(state.INTERPRETATION),
        problem=state.problem(values),
    )
