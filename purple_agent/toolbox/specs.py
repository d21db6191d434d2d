"""Tool listings: a provider's descriptions, checked, limited and normalized.

A tool may be described in the form of MCP (`inputSchema`), of plain servers (`input_schema`), or of
OpenAI's function calling (`{"type": "function", "function": {..., "parameters"}}`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from purple_agent.case import ToolSpec
from purple_agent.json_values import depth_exceeds, without_surrogates
from purple_agent.toolbox.verbs import is_write

MAX_TOOLS = 200
MAX_SCHEMA_BYTES = 65_536
MAX_SCHEMA_DEPTH = 32
MAX_PARAMETERS = 200
MAX_DESCRIPTION = 4_000
"""Most characters of a description; the rest is cut off."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_PARAMETER = re.compile(r"[A-Za-z0-9_$@][A-Za-z0-9_$@.-]{0,127}")
_SCHEMAS = ("input_schema", "inputSchema", "parameters")


class SpecError(ValueError):
    """A description of a tool cannot be used. The message does not quote it."""


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The tools of a provider, in its order, and notes about tools that were left out."""

    specs: tuple[ToolSpec, ...] = ()
    notes: tuple[str, ...] = ()


def read_listing(tools: Any) -> Listing:
    """Read a list of descriptions. Unusable ones are left out with a note.

    Raises:
        SpecError: `tools` is not a list.
    """
    if not isinstance(tools, list):
        raise SpecError("the tools are not a list")
    specs: dict[str, ToolSpec] = {}
    notes: list[str] = []
    for number, tool in enumerate(tools[:MAX_TOOLS], start=1):
        try:
            spec = read_spec(tool)
        except SpecError as why:
            notes.append(f"Tool {number} of the list was left out: {why}.")
            continue
        if spec.name in specs:
            notes.append(f"Tool {number} of the list was left out: its name is a duplicate.")
        specs.setdefault(spec.name, spec)
    if len(tools) > MAX_TOOLS:
        notes.append(f"Of {len(tools)} tools, those after the first {MAX_TOOLS} were left out.")
    return Listing(specs=tuple(specs.values()), notes=tuple(notes))


def read_spec(tool: Any) -> ToolSpec:
    """Read a tool's description.

    Raises:
        SpecError: It cannot be used.
    """
    if not isinstance(tool, dict):
        raise SpecError("it is not an object")
    inner = tool.get("function")
    described = inner if isinstance(inner, dict) else tool
    name = described.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SpecError("its name is not one of 1 to 64 letters, digits, '_', '-' and '.'")
    return ToolSpec(
        name=name,
        description=_description(described.get("description")),
        parameters=_schema(described),
        is_write=is_write(name, read_only=_read_only(described.get("annotations"))),
    )


def _description(text: Any) -> str:
    if not isinstance(text, str):
        return ""
    cut = without_surrogates(text[:MAX_DESCRIPTION])
    return "".join(char for char in cut if char.isprintable() or char == "\n").strip()


def _read_only(annotations: Any) -> bool | None:
    hint = annotations.get("readOnlyHint") if isinstance(annotations, dict) else None
    return hint if isinstance(hint, bool) else None


def _schema(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the arguments; without one, an object without known parameters."""
    schema: Any = next((described[key] for key in _SCHEMAS if described.get(key) is not None), {})
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise SpecError("its schema is not that of an object")
    if depth_exceeds(schema, MAX_SCHEMA_DEPTH):
        raise SpecError(f"its schema is nested deeper than {MAX_SCHEMA_DEPTH} levels")
    if len(_compact(schema)) > MAX_SCHEMA_BYTES:
        raise SpecError(f"its schema is larger than {MAX_SCHEMA_BYTES} bytes")
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or len(properties) > MAX_PARAMETERS:
        raise SpecError(f"its schema does not describe at most {MAX_PARAMETERS} parameters")
    if not all(map(_PARAMETER.fullmatch, properties)):
        raise SpecError("the name of a parameter is invalid")
    if not all(isinstance(described, (dict, bool)) for described in properties.values()):
        raise SpecError("one of its parameters has no schema")
    return {**schema, "type": "object", "properties": properties, "required": _required(schema)}


def _required(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required", [])
    names = isinstance(required, list) and all(isinstance(name, str) for name in required)
    if not names or not all(map(_PARAMETER.fullmatch, required)):
        raise SpecError("the required parameters of its schema are not a list of names")
    return list(dict.fromkeys(required))


def _compact(schema: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(schema, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise SpecError("its schema is not JSON") from None
