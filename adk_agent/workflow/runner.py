"""EvaluationRunner: plays the plan without a model and yields its progress."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types
from pydantic import PrivateAttr

from adk_agent.conversation.outcome import Problem
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.escaping import escape_markdown
from adk_agent.play.evaluation import EvaluationDeps, evaluate, resume
from adk_agent.requests.description import describe
from adk_agent.requests.self_reference import itself_among
from adk_agent.results.digest import digest_of
from adk_agent.results.progress import OnProgress, Progress, streamed
from adk_agent.results.report import EvaluationReport
from adk_agent.results.tables import headline_table, score_table
from adk_agent.workflow import state
from adk_agent.workflow.content import model_says
from tau_bridge.errors import BridgeError

NAME = "EvaluationRunner"
PROGRESS = "progress"
"""Key of an event's custom metadata that holds a `Progress`."""
RESUMED = "resumed_run_id"
"""Key of the session state: the run to resume. The plan in the state is that run's."""
OWN_ADDRESSES = "own_addresses"
"""Key of the session state: the addresses of this service itself."""


HandOver = Callable[[str, EvaluationReport], None]
"""Takes a session's id and the report of the run just played in it."""


class EvaluationRunner(BaseAgent):
    """Reads the plan from the session state; leaves the run's id and digest there.

    A plan with this service among its participants is refused, because each task would start
    another evaluation.

    Args:
        deps: The dependencies of an evaluation.
        hand_over: Takes the report as an object, since the session state holds only JSON.
    """

    _deps: EvaluationDeps = PrivateAttr()
    _hand_over: HandOver = PrivateAttr()

    def __init__(self, deps: EvaluationDeps, hand_over: HandOver, **fields: Any) -> None:
        super().__init__(
            name=NAME, description="Plays the selected tasks and scores them.", **fields
        )
        self._deps = deps
        self._hand_over = hand_over

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        plan = state.plan(ctx.session.state)
        if plan is None:
            return
        itself = itself_among(plan, ctx.session.state.get(OWN_ADDRESSES) or ())
        if itself is not None:
            yield self._problem(ctx, RequestError(itself))
            return
        resumed = ctx.session.state.get(RESUMED)
        run_id = str(resumed) if resumed else self._deps.new_run_id()
        yield self._event(ctx, describe(plan), state_delta={state.RUN_ID: run_id})

        async def play(on_progress: OnProgress) -> EvaluationReport:
            if resumed:
                return await resume(run_id, self._deps, on_progress=on_progress)
            request = str(ctx.session.state.get(state.REQUEST) or "")
            return await evaluate(
                plan, self._deps, request=request, run_id=run_id, on_progress=on_progress
            )

        try:
            async with streamed(play) as (updates, work):
                async for progress in updates:
                    yield self._progress_event(ctx, progress)
                report = await work
        except (GreenroomError, BridgeError) as error:
            yield self._problem(ctx, error)
            return
        self._hand_over(ctx.session.id, report)
        digest = digest_of(report).model_dump_json()
        yield self._event(ctx, _closing(report), state_delta={state.DIGEST: digest})

    def _problem(self, ctx: InvocationContext, error: Exception) -> Event:
        problem = Problem.of(error).model_dump_json()
        return self._event(ctx, str(error), state_delta={state.PROBLEM: problem})

    def _progress_event(self, ctx: InvocationContext, progress: Progress) -> Event:
        counter = f"[{progress.done}/{progress.total}] " if progress.trial is not None else ""
        # Partial: shown at once, not kept in the history.
        return Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            branch=ctx.branch,
            partial=True,
            content=_in_markdown(f"{counter}{progress.message}\n"),
            custom_metadata={PROGRESS: progress.model_dump(mode="json")},
        )

    def _event(self, ctx: InvocationContext, text: str, *, state_delta: dict[str, Any]) -> Event:
        return Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            branch=ctx.branch,
            content=_in_markdown(text),
            actions=EventActions(state_delta=state_delta),
        )


def _in_markdown(text: str) -> types.Content:
    """Format lines for a reader that renders markdown; markup of agents is escaped."""
    return model_says(escape_markdown(text).replace("\n", "  \n"))


def _closing(report: EvaluationReport) -> str:
    tables = (score_table([*report.summary, *report.overall]), headline_table(report.headlines))
    lines = [
        ", ".join(f"{name} {cell}" for name, cell in zip(header, row, strict=True))
        for header, rows in tables
        for row in rows
    ]
    return f"Run {report.run_id} is {report.status}.\n" + "\n".join(lines)
