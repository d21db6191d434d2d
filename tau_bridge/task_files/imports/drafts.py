"""Drafts: the tasks and tools that an import makes, before they are written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tau_bridge.recordings import KnownCall
from tau_bridge.task_files.checks import same

PLACEHOLDER: Final = "TODO: what this call gives"
"""Stands for a result that the source does not have."""
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]")
_TYPES: Final[Mapping[type, str]] = {
    bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class CheckDraft:
    """A check as a task file has it, and what a person still has to decide about it."""

    value: Mapping[str, Any]
    todo: str | None = None


@dataclass(frozen=True, kw_only=True)
class TaskDraft:
    """A task, and the comments that stand above it."""

    id: str
    prompt: str
    expect: Sequence[CheckDraft]
    title: str = ""
    system: str | None = None
    user: Sequence[str] | Mapping[str, Any] = ()
    gold: Mapping[str, Any] | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    comments: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class RowDraft:
    """A row of a tool, and what a person still has to decide about it."""

    when: Mapping[str, Any]
    give: Any
    error: bool = False
    todo: str | None = None


@dataclass(frozen=True, kw_only=True)
class ToolDraft:
    """A tool as a table."""

    name: str
    parameters: Mapping[str, Any]
    rows: Sequence[RowDraft]
    description: str = ""


@dataclass(frozen=True, kw_only=True)
class FileDraft:
    """A whole file, and notes about what the form has no place for."""

    name: str
    tasks: Sequence[TaskDraft]
    tools: Sequence[ToolDraft] = ()
    description: str = ""
    system: str = ""
    notes: Sequence[str] = ()


def domain_name(text: str) -> str:
    """Return a name for the file's domain."""
    name = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")[:40] or "tasks"
    return name if name[0].isalpha() else f"tasks-{name}"[:41]


def distinct(ids: Iterable[str]) -> list[str]:
    """Return the ids with a number behind each that stands there a second time."""
    taken: set[str] = set()
    found: list[str] = []
    for each in ids:
        name, number = each, 2
        while name in taken:
            name, number = f"{each}-{number}", number + 1
        taken.add(name)
        found.append(name)
    return found


def tool_name(text: str) -> str:
    """Return the name of a tool in the letters that the form allows."""
    name = _UNFIT.sub("_", text) or "tool"
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def tools_of(
    calls: Iterable[KnownCall], schemas: Mapping[str, Mapping[str, Any]] | None = None
) -> tuple[list[ToolDraft], list[str]]:
    """Return the tools of some calls, each a table of their results, and notes.

    The first known result of a call counts: one table serves all tasks of the file.

    Args:
        calls: All calls of the source, also those that are wanted and were never made.
        schemas: What the source says of tools, in OpenAI's function format, by name.
    """
    by_tool: dict[str, list[KnownCall]] = {}
    notes: list[str] = []
    for call in calls:
        rows = by_tool.setdefault(tool_name(call.name), [])
        at = next((i for i, row in enumerate(rows) if _alike(row, call)), None)
        if at is None:
            rows.append(call)
        elif call.known and not rows[at].known:
            rows[at] = call
        elif call.known and not same(rows[at].result, call.result):
            given = json.dumps(dict(call.arguments), ensure_ascii=False)
            notes.append(f"{call.name}({given}) had different results; the first one is kept")
    known = {tool_name(name): schema for name, schema in (schemas or {}).items()}
    tools = [_tool(name, rows, known.get(name, {})) for name, rows in by_tool.items()]
    return tools, list(dict.fromkeys(notes))


def _alike(left: KnownCall, right: KnownCall) -> bool:
    return same(dict(left.decisive), dict(right.decisive))


def _tool(name: str, calls: Sequence[KnownCall], schema: Mapping[str, Any]) -> ToolDraft:
    # The most special row first: a row also fits calls with more arguments than it names.
    ordered = sorted(calls, key=lambda call: -len(call.decisive))
    return ToolDraft(
        name=name,
        description=str(schema.get("description") or ""),
        parameters=schema.get("parameters") or _parameters(calls),
        rows=[_row(call) for call in ordered],
    )


def _row(call: KnownCall) -> RowDraft:
    if call.known:
        return RowDraft(when=call.decisive, give=call.result, error=call.error)
    return RowDraft(
        when=call.decisive, give=PLACEHOLDER, todo="the source has no result of this call"
    )


def _parameters(calls: Sequence[KnownCall]) -> dict[str, Any]:
    """Return a schema of the arguments that were given; those that all calls have are required."""
    types: dict[str, dict[str, None]] = {}
    for call in calls:
        for name, value in call.arguments.items():
            types.setdefault(name, {})[_TYPES.get(type(value), "null")] = None
    properties = {name: _property(list(found)) for name, found in types.items()}
    required = [name for name in properties if all(name in call.arguments for call in calls)]
    return {"type": "object", "properties": properties} | (
        {"required": required} if required else {}
    )


def _property(types: Sequence[str]) -> dict[str, Any]:
    return {"type": types[0]} if len(types) == 1 else {"type": list(types)}


def call_value(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as checks and solutions have it."""
    named = {"name": tool_name(name)}
    return {**named, "arguments": dict(arguments)} if arguments else named
