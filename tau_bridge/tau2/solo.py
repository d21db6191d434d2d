"""Playing without a user: the tool by which an agent that works alone says that it has finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tau_bridge.completion import ToolSchema
from tau_bridge.tau2.environment import Environment

DONE: Final = "done"
"""The tool's name."""

DONE_TOOL: Final[ToolSchema] = {
    "type": "function",
    "function": {
        "name": DONE,
        "description": "Call this when the ticket is solved, or nothing more can be done.",
        "parameters": {"properties": {}, "title": "parameters", "type": "object"},
    },
}


def agent_tools(world: Environment, *, solo: bool) -> Sequence[ToolSchema]:
    """Return the tools that the agent is offered: alone, it gets `DONE_TOOL` as well."""
    return (*world.agent_tools, DONE_TOOL) if solo else world.agent_tools
