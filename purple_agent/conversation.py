"""The interface of an agent without transport: text of one turn in, text of the reply out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message that reached the agent."""

    context_id: str
    """The conversation; a new id if the caller sent none."""
    message_id: str
    """The caller's id; the same if the message is sent again."""
    text: str
    """All text parts, joined by newlines."""
    task: str | None = None
    """`<domain>/<task_id>`, if the message's metadata names the task."""


class PurpleAgent(Protocol):
    """An agent under test."""

    def reply(self, turn: Turn) -> str:
        """Return the text of the reply.

        Raises:
            RejectedError: The agent refuses this conversation.
        """
        ...
