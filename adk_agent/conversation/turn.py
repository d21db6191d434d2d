"""Turn: one message of a conversation, with what answering it takes."""

from __future__ import annotations

from dataclasses import dataclass, field

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.core.plan import Overrides
from adk_agent.requests.intent import Situation


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message, with what answering it takes.

    Args:
        text: The message; a run keeps it as its request.
        situation: The conversation that it is part of.
        deps: What answers are made from.
        overrides: The flags that came with it.
        confirmed: True if whatever it asks for was agreed to, so that nothing is confirmed.
    """

    text: str
    situation: Situation
    deps: ConversationDeps
    overrides: Overrides = field(default_factory=Overrides)
    confirmed: bool = False
