"""Reasoner: what decides on the next reply of a conversation."""

from __future__ import annotations

from typing import Protocol

from purple_agent.case import Case, Reply, Session

DETERMINISTIC = "deterministic"
"""The author of replies that no model had a part in."""


class Reasoner(Protocol):
    """Decides on the next reply from the case and its session.

    A reasoner makes no tool call itself. It reads `case.session` (entries, specs, facts, policy and
    process) and returns either words or one call; what came of the call is in the session when it
    is asked again.
    """

    def author(self, session: Session) -> str:
        """Return who wrote the latest reply: `deterministic`, or `llm:` and the model's name."""
        ...

    def flags(self, session: Session) -> tuple[str, ...]:
        """Return what became of the models in a session, such as `model:unavailable`; sorted."""
        ...

    async def next(self, case: Case) -> Reply:
        """Return the next reply. Never raises for what a model, a tool or a user said."""
        ...
