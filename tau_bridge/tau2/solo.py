"""Playing without a user: the ticket that an agent is given, and how it says that it has finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tau_bridge.completion import ToolSchema
from tau_bridge.errors import DataError
from tau_bridge.messages import AssistantMessage, UserMessage
from tau_bridge.tau2.stopping import STOP
from tau_bridge.tau2.tasks import Task

if TYPE_CHECKING:
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


def ticket_message(task: Task) -> UserMessage:
    """Return what an agent that works alone is given instead of a user's words."""
    if not task.ticket:
        raise DataError(f"task {task.id!r} has no ticket: it cannot be played solo")
    return UserMessage(
        content=(
            "There is no user to talk to. Solve this ticket with tool calls alone, then call "
            f"`{DONE}`.\n<ticket>\n{task.ticket}\n</ticket>"
        )
    )


def stop_if_done(message: AssistantMessage) -> AssistantMessage:
    """Make a lone agent's call of `done` the stop; its other calls lapse."""
    if any(call.name == DONE for call in message.tool_calls or ()):
        return AssistantMessage(content=STOP)
    return message
