"""InspectTools: tools of the framework Inspect as the world of a conversation.

Benchmarks of inspect-evals write their tools for Inspect. Importing this module takes seconds:
import it where a conversation is played, not where tasks are listed.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import ChatMessageAssistant
from inspect_ai.model._call_tools import tool_params, validate_tool_input
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.tool import ToolDef
from inspect_ai.util import Store
from inspect_ai.util._store import init_subtask_store

from tau_bridge.completion import ToolSchema
from tau_bridge.messages import ToolCall, ToolMessage


class InspectTools:
    """Inspect's tools over a store of their own. Serves one conversation, in one task.

    Args:
        tools: The tools, as Inspect's `@tool` functions make them, or their definitions.
        data: The store's content at the beginning; it is copied, because tools write into it.
    """

    def __init__(self, tools: Sequence[Any], data: Mapping[str, Any]) -> None:
        defined = (each if isinstance(each, ToolDef) else ToolDef(each) for each in tools)
        self._tools = {each.name: each for each in defined}
        self._store = Store(copy.deepcopy(dict(data)))

    @property
    def schemas(self) -> list[ToolSchema]:
        """Return the tools in OpenAI's function format, as Inspect describes them to models."""
        return [_schema(tool) for tool in self._tools.values()]

    @property
    def data(self) -> dict[str, Any]:
        """Return the store's content, as the calls have left it."""
        return {name: self._store.get(name) for name in self._store.keys()}  # noqa: SIM118

    async def respond(self, call: ToolCall) -> ToolMessage:
        """Make a call; Inspect words what is wrong with its arguments."""
        tool = self._tools.get(call.name)
        if tool is None:
            return _failure(call, f"Tool {call.name} not found")
        if (wrong := validate_tool_input(call.arguments, tool.parameters)) is not None:
            return _failure(call, wrong)
        init_subtask_store(self._store)  # a context variable, in which the tools look for it
        try:
            result = await tool.tool(**tool_params(call.arguments, tool.tool))
        except Exception as error:  # noqa: BLE001 - what another package's tool raises is its answer
            return _failure(call, str(error) or type(error).__name__)
        return ToolMessage(id=call.id, content=str(result))


def calls_message(calls: Sequence[ToolCall]) -> Any:
    """Return calls as the message of an assistant, as Inspect's scorers read them."""
    made = [InspectCall(id=c.id, function=c.name, arguments=dict(c.arguments)) for c in calls]
    return ChatMessageAssistant(content="", tool_calls=made)


def _schema(tool: Any) -> ToolSchema:
    parameters = tool.parameters.model_dump(exclude_none=True)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _failure(call: ToolCall, text: str) -> ToolMessage:
    return ToolMessage(id=call.id, content=text, error=True)
