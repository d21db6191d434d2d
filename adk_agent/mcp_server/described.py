"""as_mcp_tool: one of our tool functions as the MCP SDK wants it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from docstring_parser import Docstring, parse
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

ToolFunction = Callable[..., Awaitable[dict[str, Any]]]


def as_mcp_tool(function: ToolFunction) -> ToolFunction:
    """Return the function with each argument described in its signature, as its docstring does.

    An answer `{"error": ...}` is raised as a tool error.
    """
    written = parse(inspect.getdoc(function) or "")

    async def call(**arguments: Any) -> dict[str, Any]:
        answer = await function(**arguments)
        if "error" in answer:
            raise ToolError(answer["error"])
        return answer

    call.__name__ = function.__name__
    call.__doc__ = _description(written)
    call.__signature__ = _signature(function, written)  # type: ignore[attr-defined]  # read by inspect
    return call


def _description(written: Docstring) -> str:
    parts = [written.short_description, written.long_description]
    if written.returns is not None:
        parts.append(f"Returns: {_one_line(written.returns.description)}")
    return "\n\n".join(part for part in parts if part)


def _signature(function: ToolFunction, written: Docstring) -> inspect.Signature:
    meaning = {each.arg_name: _one_line(each.description) for each in written.params}
    plain = inspect.signature(function, eval_str=True)
    return plain.replace(
        parameters=[
            each.replace(annotation=Annotated[each.annotation, Field(description=meaning[name])])
            for name, each in plain.parameters.items()
        ]
    )


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
