"""Tool schemas as the agent must see them: OpenAI's function format, from a function's docs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, create_model

from tau_bridge.completion import ToolSchema


@dataclass(frozen=True, kw_only=True)
class ToolSource:
    """The source of a tool's schema: a function's signature and Google-style docstring.

    `description` and `parameters` replace what the docstring says (None removes a parameter's
    description); `annotations` replace the types of parameters.
    """

    function: Callable[..., Any]
    description: str | None = None
    parameters: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, Any] = field(default_factory=dict)


def tool_schema(name: str, source: ToolSource) -> ToolSchema:
    """Make the schema of one tool."""
    doc = _parse(source.function.__doc__ or "")
    texts: dict[str, str | None] = {p.arg_name: p.description for p in doc.params}
    texts.update(source.parameters)
    parameters = inspect.signature(source.function, eval_str=True).parameters
    fields: dict[str, Any] = {
        key: (source.annotations.get(key, value.annotation), _field(value, texts.get(key)))
        for key, value in parameters.items()
        if key != "self"
    }
    parts = [part for part in (doc.short_description, doc.long_description) if part]
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": source.description or "\n\n".join(parts) or name,
            "parameters": create_model("parameters", **fields).model_json_schema(),
        },
    }


def _field(parameter: inspect.Parameter, description: str | None) -> Any:
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    return Field(default, description=description) if description is not None else default


def _parse(docstring: str) -> Any:
    # Late: it is only needed where tools are shown to an agent.
    from docstring_parser import parse

    return parse(docstring)
