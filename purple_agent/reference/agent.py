"""ReferenceAgent: one message in, one answer out, with the session of its conversation."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from purple_agent import wire
from purple_agent.case import Answer, Case, Dialect, Entry, Incoming, Json, Session
from purple_agent.model_usage import counted_in
from purple_agent.pipeline import Pipeline, StageStep
from purple_agent.process.checkpoint import Checkpoint, CheckpointStore
from purple_agent.process.machine import State
from purple_agent.reference.tracing import ToolStep, collect_tool_steps, trace_of
from purple_agent.session_cache import using_cache
from purple_agent.sessions import SessionStore
from purple_agent.stages.session import enter
from purple_agent.stages.structure import in_dialect

logger = logging.getLogger(__name__)

RESTORED = "process:restored"
"""Flag: the process continues from a checkpoint."""
WITHHELD = "The user asked for something else here, which was refused."
"""Replaces a refused request, which must not be carried out later."""
GIVEN = ("policy_doc", "tools_endpoint", "session_id")
MAX_ANSWERS = 50
"""Most answers of a conversation to keep for repeated messages."""


@dataclass(frozen=True, kw_only=True)
class TracedAnswer:
    """An answer and the steps that led to it."""

    answer: Answer
    trace_id: str
    steps: tuple[StageStep, ...] = ()
    calls: tuple[ToolStep, ...] = ()
    usage: Mapping[str, float] | None = None
    """The usage of language models; None where none is there to be used, or nothing is known."""

    def trace(self) -> dict[str, Any]:
        """Return the ResponseTrace, which has no steps for a repeated message."""
        return trace_of(self.trace_id, self.steps, self.calls)


class ReferenceAgent:
    """Runs the stages for each message of each session. Its owner closes it.

    Args:
        pipeline: The stages, from `purple_agent.reference.wiring`.
        store: The sessions.
        checkpoints: Keeps processes across restarts; None to keep nothing.
        prepare: Does the slow imports ahead of the first reply; called in a thread.
        close: Called in order at the end, to close everything else.
        new_id: Makes the ids of traces.
        uses_models: Language models may be called, so answers say what they used.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        store: SessionStore,
        *,
        checkpoints: CheckpointStore | None = None,
        prepare: Callable[[], object] = lambda: None,
        close: Sequence[Callable[[], Awaitable[None]]] = (),
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        uses_models: bool = False,
    ) -> None:
        self._pipeline = pipeline
        self._store = store
        self._checkpoints = checkpoints
        self._prepare = prepare
        self._close = tuple(close)
        self._new_id = new_id
        self._uses_models = uses_models

    async def prepare(self) -> None:
        """Do the slow imports; replies are possible before that ends."""
        await asyncio.to_thread(self._prepare)

    async def reply(self, incoming: Incoming) -> TracedAnswer:
        """Answer a message. A repeated message gets the same answer.

        If the caller stops waiting, the work continues: a change in progress is finished, and the
        answer is kept in case the message is repeated.
        """
        turn = self._store.background.run(self._turn(incoming), name="a reply")
        return await asyncio.shield(turn)

    async def _turn(self, incoming: Incoming) -> TracedAnswer:
        def new_session() -> Session:
            dialect = dialect_of(incoming.text, incoming.metadata)
            return Session(context_id=incoming.context_id, dialect=dialect)

        async with self._store.hold(incoming.context_id, new_session) as session:
            known = session.answered.get(incoming.message_id)
            if known is not None:
                return TracedAnswer(answer=known, trace_id=self._new_id())
            counting = counted_in(session.usage)
            with using_cache(session.read), counting, collect_tool_steps() as calls:
                answer, steps = await self._answer(incoming, session)
            _keep(session, incoming.message_id, answer)
            await self._save(session)
            return TracedAnswer(
                answer=answer,
                trace_id=self._new_id(),
                steps=steps,
                calls=tuple(calls),
                usage=session.usage.take() if self._uses_models else None,
            )

    async def _answer(
        self, incoming: Incoming, session: Session
    ) -> tuple[Answer, tuple[StageStep, ...]]:
        flags = await self._begin(session)
        _keep_given(session, incoming)
        whole = replace(incoming, metadata={**session.given, **incoming.metadata})
        answer, steps = await self._pipeline.run(Case(incoming=whole, session=session, flags=flags))
        if steps[-1].outcome == "skipped" or steps[-1].error is not None:
            _enter_ended(session, incoming, answer, steps)
            # The stage that formats answers was skipped.
            answer = replace(answer, text=in_dialect(answer.text, session.dialect))
        return answer, steps

    async def _begin(self, session: Session) -> tuple[str, ...]:
        """Restore a new session from its checkpoint, and return the flags."""
        if session.begun:
            return ()
        session.begun = True
        if self._checkpoints is None:
            return ()
        kept = await asyncio.to_thread(self._checkpoints.load, session.context_id)
        if kept is None:
            return ()
        session.process = kept.process
        if session.policy_hash is None:
            session.policy_hash = kept.policy_hash
        return () if kept.process.state is State.DECOMPOSE else (RESTORED,)

    async def _save(self, session: Session) -> None:
        if self._checkpoints is None:
            return
        kept = Checkpoint(process=session.process, policy_hash=session.lasting_policy_hash)
        try:
            await asyncio.to_thread(self._checkpoints.save, session.context_id, kept)
        except Exception:
            logger.exception("a checkpoint could not be saved")

    async def aclose(self) -> None:
        """Finish background work and close the tools of all sessions."""
        await self._store.aclose()
        for close in self._close:
            await close()


def _keep_given(session: Session, incoming: Incoming) -> None:
    """Keep the first policy and the tools' address, which later messages may leave out.

    The policy is kept until it is pinned, and the address until its tools are open, so that another
    address may follow one without tools.
    """
    if session.dialect is Dialect.TAU2:
        return
    given = {key: incoming.metadata.get(key) for key in GIVEN}
    if given["policy_doc"] and not session.has_policy:
        session.given.setdefault("policy_doc", given["policy_doc"])
    if session.tools is None:
        for key in ("tools_endpoint", "session_id"):
            if given[key] not in (None, ""):
                session.given[key] = given[key]


def _enter_ended(
    session: Session, incoming: Incoming, answer: Answer, steps: Sequence[StageStep]
) -> None:
    """Add the message and the answer to a session whose pipeline ended early."""
    passed = {step.name for step in steps if step.outcome == "passed"}
    if answer.kind == "refused":
        session.entries.append(Entry(role="note", text=WITHHELD))
    elif "session" not in passed:
        enter(session, incoming.text)
    session.entries.append(Entry(role="agent", text=answer.text))


def _keep(session: Session, message_id: str, answer: Answer) -> None:
    if not message_id:
        return
    session.answered[message_id] = answer
    if len(session.answered) > MAX_ANSWERS:
        del session.answered[next(iter(session.answered))]


def dialect_of(text: str, metadata: Mapping[str, Json]) -> Dialect:
    """Return the dialect of a conversation that starts with this message.

    The τ² wire is recognised by its form: a list of tools and the line before the user's messages;
    the content does not matter. A policy or tools in the metadata mean the business dialect,
    whatever the text quotes.
    """
    if metadata.get("policy_doc") or metadata.get("tools_endpoint"):
        return Dialect.BUSINESS
    is_opening = wire.TOOLS_LINE in text and wire.read_opening(text) is not None
    return Dialect.TAU2 if is_opening else Dialect.BUSINESS
