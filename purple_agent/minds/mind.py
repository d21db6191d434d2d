"""Mind: what decides on the next reply of a conversation."""

from __future__ import annotations

from typing import Protocol

from purple_agent.case import Case, Reply


class Mind(Protocol):
    """Decides on the next reply from the case and its session.

    A mind makes no tool call itself. It reads `case.session` (entries, specs, facts, policy and
    process) and returns either words or one call; what came of the call is in the session when it
    is asked again.
    """

    author: str
    """Who writes the replies: `deterministic`, or `llm:` and the model's name. Of a mind that may
    fall back to another model, the one that wrote the latest reply."""

    async def next(self, case: Case) -> Reply:
        """The next reply. Never raises for what a model, a tool or a user said."""
        ...
