"""The agent's side of the τ² wire: the first message, and the form of replies.

A first message has the policy, the tools after `TOOLS_LINE`, and the user's text after `USER_LINE`.
Later messages are the unchanged text of the user or of the result of the agent's call.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TOOLS_LINE = "Here's a list of tools you can use (you can use at most one tool at a time):"
USER_LINE = "Now here are the user messages:"
_RESULT = re.compile(r"Tool '([^'\n]{1,200})' result: ?")


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A first message in full.

    Args:
        policy: The text before the tools.
        tools: Their unchecked descriptions, by convention in OpenAI's function format.
        tools_text: The JSON text of the tools.
        user_text: The user's words.
    """

    policy: str
    tools: tuple[Any, ...]
    user_text: str
    tools_text: str = field(default="", compare=False, repr=False)

    @property
    def tool_names(self) -> frozenset[str]:
        """The names of its tools; a description without a name has none."""
        return frozenset(_names(self.tools))


def read_opening(text: str) -> Opening | None:
    """Read a first message in full; None if `text` is not one (it lacks `USER_LINE`).

    The line is searched after the tools, so that a policy may quote it. Tools that cannot be parsed
    are ignored.
    """
    tools, end = _tool_list(text)
    marker = text.find(USER_LINE, end)
    if marker < 0:
        return None
    line = text.find(TOOLS_LINE)
    return Opening(
        policy=text[: line if 0 <= line < marker else marker].strip(),
        tools=tuple(tools),
        tools_text=text[line + len(TOOLS_LINE) : end].strip() if tools else "",
        user_text=text[marker + len(USER_LINE) :].strip(),
    )


def _tool_list(text: str) -> tuple[list[Any], int]:
    """Return the tools, unchecked, and the offset after the list."""
    line = text.find(TOOLS_LINE)
    if line < 0:
        return [], 0
    start = line + len(TOOLS_LINE)
    while start < len(text) and text[start].isspace():
        start += 1
    try:
        tools, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return [], start
    return tools if isinstance(tools, list) else [], end


def _names(tools: Sequence[Any]) -> list[str]:
    """Return the names in a list of tools in OpenAI's function format."""
    found: list[str] = []
    for tool in tools:
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str):
            found.append(name)
    return found


def read_tool_result(text: str) -> tuple[str, str] | None:
    """Read the name and the content of `Tool '<name>' result: <content>`; None for other texts.

    This is the form of results of earlier calls in a first message, of several results in one
    message, and, from some assessors, of every result.
    """
    head = _RESULT.match(text)
    return None if head is None else (head[1], text[head.end() :])


def call(name: str, arguments: Mapping[str, Any]) -> str:
    """Write the reply that calls one tool."""
    return json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)


def respond(content: str) -> str:
    """Write the reply that says something to the user."""
    return call("respond", {"content": content})
