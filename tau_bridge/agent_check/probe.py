"""Probe: a conversation of two turns about an order, in the form of every conversation.

What the agent is sent is written by `WireAgent`, as in an evaluation. Each probe is about an order
of its own, so that a reply shows which conversation it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tau_bridge.completion import ToolSchema
from tau_bridge.messages import AssistantMessage, Message, ToolMessage, UserMessage
from tau_bridge.wire import GREETING
from tau_bridge.wire_agent import AgentTurn

LOOK_UP: Final = "get_order_status"
POLICY: Final = (
    "# Policy of a small shop\n\n"
    "You help customers of a small shop with their orders. Look an order up before you say anything"
    " about it. Tell the customer the number of the order and its status, and nothing else."
)
TOOLS: Final[tuple[ToolSchema, ...]] = (
    {
        "type": "function",
        "function": {
            "name": LOOK_UP,
            "description": "Return the status of an order.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string", "description": "Such as 'R-0000'."}},
                "required": ["order_id"],
            },
        },
    },
)
STATUS: Final = '{"status": "shipped", "arrives": "Friday"}'


@dataclass(frozen=True)
class Probe:
    """The subject of one conversation."""

    order_id: str

    @classmethod
    def of(cls, random_id: str) -> Probe:
        """Make a probe about an order that no other conversation knows."""
        return cls(f"R-{random_id.replace('-', '')[-8:].upper()}")

    def opening(self) -> tuple[Message, ...]:
        """Return what is said before the agent's first turn."""
        wish = f"Hello! Has my order {self.order_id} been shipped?"
        return AssistantMessage(content=GREETING), UserMessage(content=wish)

    def answer(self, turn: AgentTurn) -> Sequence[Message]:
        """Return what comes back after the first turn. The order's number is not said again."""
        calls = turn.message.tool_calls
        if not calls:
            return (UserMessage(content="Yes, please look it up. Which number did I give you?"),)
        return tuple(
            ToolMessage(id=call.id, content=STATUS)
            if call.name == LOOK_UP
            else ToolMessage(
                id=call.id, content=f"Error: there is no tool {call.name!r}", error=True
            )
            for call in calls
        )
