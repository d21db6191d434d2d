"""ToolSchemas: the tools of a session in OpenAI's function format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from purple_agent.case import ToolSpec
from purple_agent.reasoners.model.fences import bounded, defanged

MAX_TOOLS = 128
"""The most that providers take; further tools are left out."""
MAX_DESCRIPTION = 2_000
MAX_SCHEMA = 8_000
"""Characters of a tool's parameters as JSON; of longer ones only the names are sent."""

THINK = "think"

_THINK_TOOL: Mapping[str, Any] = {
    "type": "function",
    "function": {
        "name": THINK,
        "description": "Think in private: nobody sees it and nothing is changed. Use it before "
        "you change anything: which rules apply, what is known, what is missing.",
        "parameters": {
            "type": "object",
            "properties": {"thought": {"type": "string"}},
            "required": ["thought"],
        },
    },
}


@dataclass(frozen=True)
class ToolSchemas:
    """Tools in OpenAI's format, with the names that they go by there."""

    tools: tuple[Mapping[str, Any], ...]
    own_names: Mapping[str, str]
    """The tool's own name, by the name that a model knows."""
    can_think: bool

    def name_for_model(self, name: str) -> str:
        """Return the name by which models know a tool."""
        return next((told for told, own in self.own_names.items() if own == name), _safe(name))

    def own_name(self, told: str) -> str:
        """Return the tool's own name for one that a model used; unknown names stay."""
        return self.own_names.get(told, told)


def tool_schemas_of(specs: Sequence[ToolSpec], *, thinking: bool) -> ToolSchemas:
    """Describe tools to models.

    Args:
        specs: The session's tools.
        thinking: Add a tool that does nothing but take a thought, unless there is one already.
    """
    shown = specs[: MAX_TOOLS - 1]
    own_names = _names_for_models(spec.name for spec in shown)
    tools = [_tool(told, spec) for told, spec in zip(own_names, shown, strict=True)]
    can_think = thinking and THINK not in own_names
    if can_think:
        tools.append(_THINK_TOOL)
    return ToolSchemas(tuple(tools), own_names, can_think)


def _names_for_models(names: Iterable[str]) -> dict[str, str]:
    told: dict[str, str] = {}
    for name in names:
        safe, number = _safe(name), 2
        while safe in told:
            safe = f"{_safe(name)[:60]}_{number}"
            number += 1
        told[safe] = name
    return told


def _safe(name: str) -> str:
    """Return a name that every provider takes."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "_"


def _tool(told: str, spec: ToolSpec) -> Mapping[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": told,
            "description": bounded(defanged(spec.description), MAX_DESCRIPTION),
            "parameters": _parameters(spec.parameters),
        },
    }


def _parameters(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema of an object, cut to names and types where it is too long."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {"type": "object", "properties": {}}
    if _length(schema) <= MAX_SCHEMA:
        return {**schema, "type": "object"}
    names = [str(name)[:100] for name in list(properties)[:50]]
    return {
        "type": "object",
        "properties": {name: {} for name in names},
        "required": [name for name in required_of(schema) if name in names],
    }


def _length(value: Any) -> int:
    try:
        return len(json.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return MAX_SCHEMA + 1


def required_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the parameters that have to be given."""
    required = schema.get("required")
    if not isinstance(required, list | tuple):
        return ()
    return tuple(name for name in required if isinstance(name, str))
