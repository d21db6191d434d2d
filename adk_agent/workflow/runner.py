"""EvaluationRunner: plays the plan, deterministically, and tells of its progress."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Mapping
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types
from pydantic import PrivateAttr

from adk_agent.core.errors import GreenroomError, RequestError, exit_code_of
from adk_agent.core.harmless import harmless
from adk_agent.core.plan import EvaluationPlan
from adk_agent.play.evaluation import EvaluationDeps, evaluate, resume
from adk_agent.requests.planning import describe
from adk_agent.requests.self_reference import itself_among
from adk_agent.results.digest import digest_of
from adk_agent.results.progress import Progress
from adk_agent.results.report import EvaluationReport
from adk_agent.results.tables import headline_table, score_table
from adk_agent.workflow import state
from adk_agent.workflow.content import model_says
from tau_bridge.errors import BridgeError

NAME = "EvaluationRunner"
PROGRESS = "progress"
"""Key of an event's custom metadata that holds a `Progress`."""
RESUMED = "resumed_run_id"
"""Key of the session state: the run to go on with. The plan beside it is that run's."""
OWN_ADDRESSES = "own_addresses"
"""Key of the session state: where this service itself is reached, a list of addresses."""


class EvaluationRunner(BaseAgent):
    """Reads the plan from the session state; leaves the run's id and digest there.

    A plan with this service among its participants is refused: it would assess itself, and every
    task of that would ask for the next.
    """

    _deps: EvaluationDeps = PrivateAttr()

    def __init__(self, deps: EvaluationDeps, **fields: Any) -> None:
        super().__init__(
            name=NAME, description="Plays the selected tasks and scores them.", **fields
        )
        self._deps = deps

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        plan = state.plan(ctx.session.state)
        if plan is None:
            return
        itself = itself_among(plan, ctx.session.state.get(OWN_ADDRESSES) or ())
        if itself is not None:
            yield self._problem(ctx, RequestError(itself))
            return
        queue: asyncio.Queue[Progress | None] = asyncio.Queue()
        resumed = ctx.session.state.get(RESUMED)
        run_id = str(resumed) if resumed else self._deps.new_run_id()
        yield self._event(ctx, describe(plan), state_delta={state.RUN_ID: run_id})
        work = self._work(plan, ctx.session.state, run_id, queue)
        task = asyncio.create_task(_closing_queue(work, queue))
        try:
            while (progress := await queue.get()) is not None:
                yield self._progress_event(ctx, progress)
            report = await task
        except (GreenroomError, BridgeError) as error:
            yield self._problem(ctx, error)
            return
        finally:
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        digest = digest_of(report).model_dump_json()
        yield self._event(ctx, _closing(report), state_delta={state.DIGEST: digest})

    def _work(
        self,
        plan: EvaluationPlan,
        values: Mapping[str, Any],
        run_id: str,
        queue: asyncio.Queue[Progress | None],
    ) -> Coroutine[Any, Any, EvaluationReport]:
        """A new run, or the rest of the one that the session state names."""
        if values.get(RESUMED):
            return resume(run_id, self._deps, on_progress=queue.put_nowait)
        request = str(values.get(state.REQUEST) or "")
        return evaluate(
            plan, self._deps, request=request, run_id=run_id, on_progress=queue.put_nowait
        )

    def _problem(self, ctx: InvocationContext, error: Exception) -> Event:
        found = state.Problem(message=str(error), exit_code=exit_code_of(error))
        return self._event(ctx, str(error), state_delta={state.PROBLEM: found.model_dump_json()})

    def _progress_event(self, ctx: InvocationContext, progress: Progress) -> Event:
        # Partial: shown as it comes, kept in no history.
        return Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            branch=ctx.branch,
            partial=True,
            content=_in_markdown(f"{_counter(progress)}{progress.message}\n"),
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
    """Lines for a reader that renders markdown; whatever an agent wrote in them is only shown."""
    return model_says(harmless(text).replace("\n", "  \n"))


async def _closing_queue(
    work: Coroutine[Any, Any, EvaluationReport], queue: asyncio.Queue[Progress | None]
) -> EvaluationReport:
    try:
        return await work
    finally:
        queue.put_nowait(None)


def _counter(progress: Progress) -> str:
    return f"[{progress.done}/{progress.total}] " if progress.trial is not None else ""


def _closing(report: EvaluationReport) -> str:
    tables = (score_table([*report.summary, *report.overall]), headline_table(report.headlines))
    lines = [
        ", ".join(f"{name} {cell}" for name, cell in zip(header, row, strict=True))
        for header, rows in tables
        for row in rows
    ]
    return f"Run {report.run_id} is {report.status}.\n" + "\n".join(lines)
