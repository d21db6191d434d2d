"""Which dialect a conversation is held in, and what its first message brings along."""

from __future__ import annotations

from purple_agent import wire
from purple_agent.case import Dialect


def dialect_of(text: str) -> Dialect:
    """The dialect of a conversation that begins with this text.

    The τ² wire is known by its form: a list of tools and the line before the user's messages. What
    the policy or the tools are about makes no difference.
    """
    return Dialect.BUSINESS if wire.parse_first_message(text) is None else Dialect.TAU2
