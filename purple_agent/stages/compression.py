"""Stage 8, compression: has a long conversation summarised while the user reads the reply."""

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
"""Seconds that a summary may take; after that one is made without a model."""


class CompressionStage:
    """Begins a summary in the background, where the conversation is too long.

    The summary is made from a copy of the oldest entries, so the next message need not wait for
    it. It takes their place between two messages, under the session's lock, and only if they still
    stand where they stood.

    Args:
        store: Keeps the session, its lock, and what goes on in the background.
        summarise: Makes summaries; None: they are made without a model.
        limits: The part of a conversation that is kept word for word.
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
        """Enter the case's reply into its session, and sum a long session up."""
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
    """Ask the model for a summary; without one, or where it fails, make one by rules."""
    if summarise is None:
        return extract(before, oldest)
    try:
        async with asyncio.timeout(SUMMARY_S):
            return await summarise(before, oldest)
    except Exception:
        logger.exception("no summary by a model; one is made without")
        return extract(before, oldest)


def _put(session: Session, oldest: Sequence[Entry], summary: Summary) -> None:
    """Let a summary take the place of the entries that it was made from."""
    session.spent_tokens += summary.tokens
    now = session.entries[: len(oldest)]
    if len(now) == len(oldest) and all(a is b for a, b in zip(now, oldest, strict=True)):
        session.summary = summary.text
        del session.entries[: len(oldest)]
