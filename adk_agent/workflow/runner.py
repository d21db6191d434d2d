"""EvaluationRunner: does what was read, without a model: plays a plan, or finds the reply."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events import Event, EventActions
from google.genai import types
from pydantic import PrivateAttr

from adk_agent.conversation.answering import respond
from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.outcome import Problem
from adk_agent.conversation.replies import Answer, Asked, CancelRuns, Play, Reading, Refused, Reply
from adk_agent.conversation.telling import table_of
from adk_agent.core.errors import GreenroomError
from adk_agent.core.escaping import escape_markdown
from adk_agent.play.evaluation import EvaluationDeps, evaluate, resume
from adk_agent.requests.description import describe
from adk_agent.requests.intent import Situation
from adk_agent.results.digest import digest_of
from adk_agent.results.progress import OnProgress, Progress, streamed
from adk_agent.results.report import EvaluationReport
from adk_agent.results.tables import headline_table, score_table, without_the_usual
from adk_agent.runs.tracking import request_cancel
from adk_agent.workflow import state
from adk_agent.workflow.artifacts import offer_picture
from adk_agent.workflow.content import model_says, nothing_said
from tau_bridge.errors import BridgeError

NAME = "EvaluationRunner"
PROGRESS = "progress"
"""Key of an event's custom metadata that holds a `Progress`."""

HandOver = Callable[[str, EvaluationReport], None]
"""Takes a session's id and the report of the run just played in it."""
Situated = Callable[[state.Readable], Situation]
"""Returns the conversation that a session holds."""


class EvaluationRunner(BaseAgent):
    """Takes the reading from the session state; leaves the reply there, or the run and its digest.

    Args:
        deps: The dependencies of an evaluation.
        conversation: What answers are made from.
        situated: Returns the conversation of a session.
        hand_over: Takes the report as an object, since the session state holds only JSON.
    """

    _deps: EvaluationDeps = PrivateAttr()
    _conversation: ConversationDeps = PrivateAttr()
    _situated: Situated = PrivateAttr()
    _hand_over: HandOver = PrivateAttr()

    def __init__(
        self,
        deps: EvaluationDeps,
        conversation: ConversationDeps,
        situated: Situated,
        hand_over: HandOver,
        **fields: Any,
    ) -> None:
        super().__init__(
            name=NAME, description="Plays the selected tasks and scores them.", **fields
        )
        self._deps = deps
        self._conversation = conversation
        self._situated = situated
        self._hand_over = hand_over

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        session = ctx.session.state
        if state.problem(session) is not None:
            return
        reply = await self._reply(session)
        if not isinstance(reply, Play):
            yield self._event(ctx, nothing_said(), _left_by(reply))
            return
        async for event in self._played(ctx, reply):
            yield event

    async def _reply(self, session: state.Readable) -> Reply:
        """Return what is to be done about the message."""
        request = str(session.get(state.REQUEST) or "")
        plan = state.plan(session)
        if plan is not None:
            return Play(plan=plan, request=request, resumed_run_id=session.get(state.RESUMED))
        reading, situation = state.reading(session), self._situated(session)
        reply = await respond(
            request,
            situation,
            self._conversation,
            read=_read_already(reading),
            reading=reading,
            overrides=state.overrides(session),
            confirmed=bool(session.get(state.CONFIRMED)),
        )
        return await self._canceled(reply) if isinstance(reply, CancelRuns) else reply

    async def _canceled(self, cancel: CancelRuns) -> Reply:
        """Ask runs to stop, in whatever process they are played."""
        try:
            for run_id in cancel.run_ids:
                await asyncio.to_thread(request_cancel, self._deps.results_dir, run_id)
        except GreenroomError as error:
            return Refused(text=str(error), exit_code=error.exit_code)
        if not cancel.run_ids:
            return Answer(text="No evaluation is running in this conversation.")
        return Answer(text=f"Asked {', '.join(cancel.run_ids)} to stop. Finished trials are kept.")

    async def _played(self, ctx: InvocationContext, play: Play) -> AsyncGenerator[Event, None]:
        run_id = play.resumed_run_id or self._deps.new_run_id()
        begun = {
            state.PLAN: play.plan.model_dump_json(),
            state.RUN_ID: run_id,
            state.RUN_IDS: state.with_run(ctx.session.state, run_id),
            state.QUESTION: None,
        }
        yield self._event(ctx, _as_list(describe(play.plan)), begun)

        async def work(on_progress: OnProgress) -> EvaluationReport:
            if play.resumed_run_id:
                return await resume(run_id, self._deps, on_progress=on_progress)
            return await evaluate(
                play.plan, self._deps, request=play.request, run_id=run_id, on_progress=on_progress
            )

        try:
            async with streamed(work) as (updates, playing):
                async for progress in updates:
                    yield self._progress_event(ctx, progress)
                report = await playing
        except (GreenroomError, BridgeError) as error:
            problem = Problem.of(error).model_dump_json()
            yield self._event(ctx, nothing_said(), {state.PROBLEM: problem})
            return
        self._hand_over(ctx.session.id, report)
        digest = digest_of(report).model_dump_json()
        yield self._event(ctx, _closing(report), {state.DIGEST: digest})
        picture = await self._picture(ctx, report)
        if picture is not None:
            yield picture

    async def _picture(self, ctx: InvocationContext, report: EvaluationReport) -> Event | None:
        """Return an event that offers a picture of the scores; None if there is none."""
        event = self._event(ctx, nothing_said(), {})
        await offer_picture(CallbackContext(ctx, event_actions=event.actions), report)
        return event if event.actions.artifact_delta else None

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

    def _event(
        self, ctx: InvocationContext, content: types.Content, state_delta: dict[str, Any]
    ) -> Event:
        return Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            branch=ctx.branch,
            content=content,
            actions=EventActions(state_delta=state_delta),
        )


def _read_already(reading: Reading | None) -> Callable[[str, Situation], Awaitable[Reading]]:
    async def read(text: str, situation: Situation) -> Reading:  # noqa: ARG001 - a reader's signature
        if reading is None:
            raise GreenroomError("nothing was read; this is a fault of greenroom")
        return reading

    return read


def _left_by(reply: Reply) -> dict[str, Any]:
    """Return what a reply changes in the session state."""
    question = reply.question.model_dump_json() if isinstance(reply, Asked) else None
    left: dict[str, Any] = {state.REPLY: state.dumped_reply(reply), state.QUESTION: question}
    if isinstance(reply, Refused):
        problem = Problem(message=reply.text, exit_code=reply.exit_code)
        left[state.PROBLEM] = problem.model_dump_json()
    return left


def _as_list(text: str) -> types.Content:
    """Format lines as a list, in which indented lines are lists of their own."""
    return model_says(escape_markdown(re.sub(r"^( *)", r"\1- ", text, flags=re.MULTILINE)))


def _in_markdown(text: str) -> types.Content:
    """Format lines for a reader that renders markdown; markup of agents is escaped."""
    return model_says(escape_markdown(text).replace("\n", "  \n"))


def _closing(report: EvaluationReport) -> types.Content:
    scores = without_the_usual(score_table([*report.summary, *report.overall]))
    tables = [table for table in (scores, headline_table(report.headlines)) if table[1]]
    lines = [f"Run {report.run_id} is {report.status}.", *map(table_of, tables)]
    return model_says(escape_markdown("\n\n".join(lines)))
