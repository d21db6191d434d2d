"""World: the state that a task's tools act on, as the conversation loop and the scorer see it."""

from __future__ import annotations

from typing import Protocol

from tau_bridge.completion import ToolSchema
from tau_bridge.messages import ToolCall, ToolMessage


class World(Protocol):
    """The agent's and the user's tools over one task's databases.

    One world serves one conversation (or one replay) and is never shared.
    """

    @property
    def policy(self) -> str:
        """The domain's policy, as the agent must be told it."""

    @property
    def agent_tools(self) -> tuple[ToolSchema, ...]:
        """Schemas of the tools that the agent may call (in solo mode: the user's too)."""

    @property
    def user_tools(self) -> tuple[ToolSchema, ...]:
        """Schemas of the tools that the user may call; empty where the user has none."""

    def respond(self, call: ToolCall) -> ToolMessage:
        """The result of a call; an unknown tool or a raising one gives `error=True`.

        Runs the domain's synchronisation after a successful call, as the official engine does.
        """
