"""Stage 8, compression: summarises a long conversation while the user reads the reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from purple_agent.case import BudgetLevel, Case, Entry, Session
from purple_agent.memory.summary import Summarise, Summary, extract
from purple_agent.memory.transcript import Limits, note_reply, shorten_results, surplus
from purple_agent.sessions import SessionStore

logger = logging.getLogger(__name__)

SUMMARY_S = 60.0
"""Timeout for a model's summary; after that, rules make one."""


class CompressionStage:
    """Starts a summary in the background if the conversation is too long.

    The summary is made from a copy of the oldest entries, so the next message need not wait for it.
    It replaces them between two messages, under the session's lock, and only if they are unchanged.

    Args:
        store: Keeps the session, its lock and the background work.
        summarise: Makes summaries; None for summaries by rules.
        limits: The part of a conversation that is kept verbatim.
    """

    def __init__(
        self,
        store: SessionStore,
        *,
        summarise: Summarise | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._store = store
        self._summarise = summarise
        self._limits = limits or Limits()
        self._under_way: set[int] = set()

    async def __call__(self, case: Case) -> Case:
        """Add the case's reply to its session, and summarise a long session."""
        session = case.session
        note_reply(session, case.reply)
        shorten_results(session.entries, self._limits)
        count = surplus(session.entries, self._limits)
        if count and id(session) not in self._under_way:
            self._under_way.add(id(session))
            summarise = None if case.budget_level is BudgetLevel.NONE else self._summarise
            oldest = tuple(session.entries[:count])
            self._store.background.start(
                self._compress(session, oldest, summarise), name="summarise a conversation"
            )
        return case

    async def _compress(
        self, session: Session, oldest: Sequence[Entry], summarise: Summarise | None
    ) -> None:
        try:
            summary = await _summary(session.summary, oldest, summarise)
            await self._store.amend(session, lambda held: _put(held, oldest, summary))
        finally:
            self._under_way.discard(id(session))


async def _summary(before: str, oldest: Sequence[Entry], summarise: Summarise | None) -> Summary:
    """Get a summary from the model, or from rules if there is no model or it fails."""
    if summarise is None:
        return extract(before, oldest)
    try:
        async with asyncio.timeout(SUMMARY_S):
            return await summarise(before, oldest)
    except Exception:
        logger.exception("the model's summary failed; rules make one instead")
        return extract(before, oldest)


def _put(session: Session, oldest: Sequence[Entry], summary: Summary) -> None:
    """Replace the oldest entries with their summary."""
    session.spent_tokens += summary.tokens
    now = session.entries[: len(oldest)]
    if len(now) == len(oldest) and all(a is b for a, b in zip(now, oldest, strict=True)):
        session.summary = summary.text
        del session.entries[: len(oldest)]
