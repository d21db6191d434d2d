"""WorkflowPipeline: one evaluation through ADK's agents, in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from adk_agent.conversation.outcome import Outcome
from adk_agent.conversation.pipeline import RulesPipeline
from adk_agent.conversation.replies import Reading
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.requests.intent import Situation
from adk_agent.results.progress import OnProgress, Progress, silent
from adk_agent.results.report import EvaluationReport, OnReport
from adk_agent.workflow import state
from adk_agent.workflow.runner import OWN_ADDRESSES, PROGRESS, RESUMED

if TYPE_CHECKING:
    from google.adk.agents.base_agent import BaseAgent
    from google.adk.events import Event

APP_NAME = "greenroom"


class WorkflowPipeline:
    """A `Pipeline` that runs each evaluation in a new session with a new workflow.

    Args:
        new_agent: Builds a workflow that passes its report to a function.
        rules: The pipeline without a model.
    """

    def __init__(self, new_agent: Callable[[OnReport], BaseAgent], rules: RulesPipeline) -> None:
        self._new_agent = new_agent
        self._rules = rules

    async def read(self, text: str, situation: Situation) -> Reading:
        """See `Pipeline`."""
        return await self._rules.read(text, situation)

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
        del reading, confirmed  # the selector reads, and asks for no confirmation
        known = situation or Situation()
        values = {
            state.OVERRIDES: (overrides or Overrides()).model_dump_json(),
            OWN_ADDRESSES: sorted(known.own_addresses),
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
        values = {state.GIVEN_PLAN: plan.model_dump_json(), RESUMED: resumed_run_id}
        return await self._run(request, values, on_progress, session_id)

    async def _run(
        self, text: str, values: Mapping[str, Any], on_progress: OnProgress, session_id: str | None
    ) -> Outcome:
        from google.adk.runners import InMemoryRunner
        from google.genai import types

        reports: list[EvaluationReport] = []
        runner = InMemoryRunner(agent=self._new_agent(reports.append), app_name=APP_NAME)
        session = await runner.session_service.create_session(
            app_name=APP_NAME, user_id=APP_NAME, session_id=session_id, state=dict(values)
        )
        message = types.Content(role="user", parts=[types.Part(text=text)])
        events = runner.run_async(user_id=APP_NAME, session_id=session.id, new_message=message)
        async with contextlib.aclosing(events):
            async for event in events:
                progress = progress_of(event)
                if progress is not None:
                    on_progress(progress)
        ended = await runner.session_service.get_session(
            app_name=APP_NAME, user_id=APP_NAME, session_id=session.id
        )
        left = ended.state if ended is not None else {}
        return Outcome(
            run_id=left.get(state.RUN_ID),
            report=next(iter(reports), None),
            interpretation=left.get(state.INTERPRETATION),
            problem=state.problem(left),
        )


def progress_of(event: Event) -> Progress | None:
    """Return the progress in an event; None for every other event."""
    value = (event.custom_metadata or {}).get(PROGRESS)
    return None if value is None else Progress.model_validate(value)
