"""ReferenceAgent: one message in, one answer out, with the session of its conversation."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from purple_agent.case import Answer, Case, Incoming, Session
from purple_agent.pipeline import NamedStage, Pipeline, StageStep
from purple_agent.process.checkpoint import CheckpointStore
from purple_agent.reference.dialects import dialect_of
from purple_agent.reference.tracing import ToolStep, noting, trace_of
from purple_agent.sessions import SessionStore
from purple_agent.stages.structure import in_dialect

MAX_ANSWERS = 50
"""Answers of a conversation that are kept for messages that are sent again."""


@dataclass(frozen=True, kw_only=True)
class Replied:
    """An answer, and how it came about."""

    answer: Answer
    trace_id: str
    steps: tuple[StageStep, ...] = ()
    calls: tuple[ToolStep, ...] = ()

    def trace(self) -> dict[str, Any]:
        """The ResponseTrace; without steps for a message that was sent again."""
        return trace_of(self.trace_id, self.steps, self.calls)


class ReferenceAgent:
    """The stages over the sessions. Whoever makes it closes it.

    Args:
        stages: From `purple_agent.reference.wiring`.
        store: The sessions.
        checkpoints: Where processes are kept over a restart; None: nowhere.
        prepare: Loads what the first reply would otherwise wait for; called in a thread.
        close: What else is closed at the end.
        clock: Seconds since 1970, for the trace.
        new_id: Makes the ids of traces.
    """

    def __init__(
        self,
        stages: Sequence[NamedStage],
        store: SessionStore,
        *,
        checkpoints: CheckpointStore | None = None,
        prepare: Callable[[], object] = lambda: None,
        close: Sequence[Callable[[], Awaitable[None]]] = (),
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._pipeline = Pipeline(stages, clock=clock)
        self._store = store
        self._checkpoints = checkpoints
        self._prepare = prepare
        self._close = tuple(close)
        self._new_id = new_id

    async def prepare(self) -> None:
        """Load what takes seconds; replies are given before that too."""
        await asyncio.to_thread(self._prepare)

    async def reply(self, incoming: Incoming) -> Replied:
        """The answer to a message. The same message, sent again, gets the same answer."""

        def new_session() -> Session:
            return Session(context_id=incoming.context_id, dialect=dialect_of(incoming.text))

        async with self._store.hold(incoming.context_id, new_session) as session:
            known = session.answered.get(incoming.message_id)
            if known is not None:
                return Replied(answer=known, trace_id=self._new_id())
            with noting() as calls:
                answer, steps = await self._pipeline.run(Case(incoming=incoming, session=session))
            if steps[-1].outcome == "skipped" or steps[-1].error is not None:
                # No stage has put these words in the conversation's form.
                answer = replace(answer, text=in_dialect(answer.text, session.dialect))
            _keep(session, incoming.message_id, answer)
            if self._checkpoints is not None:
                save = self._checkpoints.save
                await asyncio.to_thread(save, session.context_id, session.process)
            return Replied(answer=answer, trace_id=self._new_id(), steps=steps, calls=tuple(calls))

    async def aclose(self) -> None:
        """Finish background work, and close the tools of all sessions."""
        await self._store.aclose()
        for close in self._close:
            await close()


def _keep(session: Session, message_id: str, answer: Answer) -> None:
    if not message_id:
        return
    session.answered[message_id] = answer
    if len(session.answered) > MAX_ANSWERS:
        del session.answered[next(iter(session.answered))]
