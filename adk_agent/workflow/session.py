"""run_request, run_plan: one evaluation through the workflow in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.results.progress import Progress, Tell
from adk_agent.workflow import state
from adk_agent.workflow.runner import OWN_ADDRESSES, PROGRESS, RESUMED

if TYPE_CHECKING:
    from google.adk.agents.base_agent import BaseAgent
    from google.adk.events import Event

    from adk_agent.workflow.sequence import RootAgent

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
    on_progress: Tell,
    session_id: str | None = None,
    own_addresses: Collection[str] = (),
) -> WorkflowResult:
    """Run the workflow over one request, in a session of its own.

    Args:
        root_agent: The workflow, used for this alone.
        text: What was asked for.
        overrides: The flags that came with it.
        on_progress: Is told how it goes.
        session_id: Of the session; one is made up where none is given.
        own_addresses: Where this service is reached; a participant there is refused.
    """
    values = {
        state.OVERRIDES: overrides.model_dump_json(),
        OWN_ADDRESSES: sorted(own_addresses),
    }
    return await _run(root_agent, text, values, on_progress, session_id)


async def run_plan(
    root_agent: RootAgent,
    plan: EvaluationPlan,
    *,
    request: str,
    on_progress: Tell,
    session_id: str | None = None,
    resumed_run_id: str | None = None,
) -> WorkflowResult:
    """Play a plan that stands already, and have it interpreted: the workflow without its selector.

    Args:
        root_agent: The workflow, used for this alone.
        plan: What is played; of a run that is resumed, that run's.
        request: What was asked for, in words.
        on_progress: Is told how it goes.
        session_id: Of the session; one is made up where none is given.
        resumed_run_id: The run to go on with; None for a new one.
    """
    values = {
        state.PLAN: plan.model_dump_json(),
        state.REQUEST: request,
        RESUMED: resumed_run_id,
    }
    root_agent.sub_agents = root_agent.sub_agents[1:]
    return await _run(root_agent, request, values, on_progress, session_id)


async def _run(
    root_agent: BaseAgent,
    text: str,
    values: Mapping[str, Any],
    on_progress: Tell,
    session_id: str | None,
) -> WorkflowResult:
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(agent=root_agent, app_name=APP_NAME)
    session = await runner.session_service.create_session(
        app_name=APP_NAME, user_id=APP_NAME, session_id=session_id, state=dict(values)
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
