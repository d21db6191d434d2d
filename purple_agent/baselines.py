"""Baseline agents that know nothing: the floor of every score."""

from __future__ import annotations

from purple_agent import wire
from purple_agent.conversation import Turn

REFUSAL = "Hello! I am sorry, but I cannot help with that."


class NullAgent:
    """Greets and says that it cannot help, whatever the message. Stateless."""

    def reply(self, turn: Turn) -> str:
        """Return the same refusal every time."""
        del turn
        return wire.respond(REFUSAL)


class EchoAgent:
    """Repeats the last message. Stateless."""

    def reply(self, turn: Turn) -> str:
        """Return the user's text, without policy and tools if it is a first message."""
        first = wire.read_opening(turn.text)
        return wire.respond(first.user_text if first else turn.text)
