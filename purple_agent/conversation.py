"""An agent without any transport: text of one turn in, text of the reply out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message that reached the agent."""

    context_id: str
    """The conversation. A fresh one where the caller sent none."""
    message_id: str
    """Chosen by the caller; a message that is sent again carries the same one."""
    text: str
    """All text parts, joined by newlines."""
    task: str | None = None
    """`<domain>/<task_id>`, where the message's metadata names the task."""


class PurpleAgent(Protocol):
    """An agent under test."""

    def reply(self, turn: Turn) -> str:
        """Return the text to answer with.

        Raises:
            RejectedError: the agent will not play this conversation.
        """
        ...
