"""Reasoner: decides on the next reply of a conversation."""

from __future__ import annotations

from typing import Protocol

from purple_agent.case import Case, Reply, Session

DETERMINISTIC = "deterministic"
"""The author of replies without any model."""


class Reasoner(Protocol):
    """Decides on the next reply from the case and its session.

    A reasoner makes no tool calls. It reads `case.session` (entries, specs, facts, policy and
    process) and returns either words or one call; the call's result is in the session at the next
    call of `next`.
    """

    def author(self, session: Session) -> str:
        """Return the latest reply's author: `deterministic`, or `llm:` and the model's name."""
        ...

    def flags(self, session: Session) -> tuple[str, ...]:
        """Return flags about a session's models, such as `model:unavailable`, sorted."""
        ...

    async def next(self, case: Case) -> Reply:
        """Return the next reply. Never raises for an error of a model, a tool or a user."""
        ...
