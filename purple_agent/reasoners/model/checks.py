"""Checks: what is wrong with a call that a model proposes, as far as code can tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rapidfuzz import fuzz, process

from purple_agent.case import Entry, Session, ToolSpec
from purple_agent.reasoners.model.completion import ProposedCall
from purple_agent.reasoners.model.scratchpad import Scratchpad
from purple_agent.reasoners.model.tool_schemas import required_of
from purple_agent.toolbox.schema_types import fits, types_of

MAX_VALUES = 50
"""Values of a call's arguments that are looked at."""

_ID = re.compile(r"(^|_)(ids?|numbers?|codes?)$", re.IGNORECASE)


def form_problem(call: ProposedCall, session: Session) -> str:
    """Say what is wrong with the form of a call; may be empty."""
    spec = session.spec(call.name)
    if spec is None:
        return _unknown(call.name, session.specs)
    if call.arguments is None:
        return f"The arguments of {call.name} are no JSON object: {call.raw[:300]!r}."
    problems = [*_missing(spec, call.arguments), *_mistyped(spec, call.arguments)]
    return f"{call.name} cannot be called so: {'; '.join(problems)}." if problems else ""


def _unknown(name: str, specs: Sequence[ToolSpec]) -> str:
    names = [spec.name for spec in specs]
    near = process.extract(name[:200], names, scorer=fuzz.ratio, limit=3)
    listed = ", ".join(found for found, _, _ in near) or "none"
    return f"There is no tool {name[:100]!r}. The nearest ones: {listed}."


def _missing(spec: ToolSpec, arguments: Mapping[str, Any]) -> Iterator[str]:
    missing = [name for name in required_of(spec.parameters) if name not in arguments]
    if not missing:
        return
    yield f"missing {', '.join(missing[:20])}"
    known = _properties(spec)
    surplus = [name for name in arguments if known and name not in known]
    if surplus:
        yield f"unknown {', '.join(surplus[:20])}"


def _mistyped(spec: ToolSpec, arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, schema in sorted(_properties(spec).items()):
        if name in arguments and not fits(arguments[name], schema):
            yield f"{name} must be of type {' or '.join(types_of(schema))}"


def _properties(spec: ToolSpec) -> Mapping[str, Any]:
    properties = spec.parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def unread(arguments: Mapping[str, Any], session: Session, pad: Scratchpad) -> str:
    """Say which entity of a change has not been read, fit for the model; may be empty.

    An argument names an entity where some reading tool needs nothing but that id.
    """
    if session.summary:
        return ""  # what was read may stand in the part that is no longer there
    readers = {
        required[0]: reader.name
        for reader in reversed(session.specs)
        if not reader.is_write and len(required := required_of(reader.parameters)) == 1
    }
    for name, value in _ids(arguments):
        reader = readers.get(name)
        if reader is not None and (name, value) not in pad.read:
            return f"Read {name} {value[:100]!r} with {reader} first."
    return ""


def _ids(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the ids among arguments, each with the name of a single one."""
    for name in sorted(filter(_ID.search, arguments)):
        value = arguments[name]
        for one in value[:MAX_VALUES] if isinstance(value, list) else [value]:
            yield (name.removesuffix("s") if isinstance(value, list) else name), str(one)


def may_be_confirmed(session: Session) -> bool:
    """Tell whether the user could have confirmed: the agent has spoken, and the user after it."""
    if session.summary:
        return True
    spoke = False
    for entry in _after_first_user(session.entries):
        spoke = spoke or entry.role == "agent"
        if spoke and entry.role == "user":
            return True
    return False


def _after_first_user(entries: Sequence[Entry]) -> Sequence[Entry]:
    first = next((i for i, entry in enumerate(entries) if entry.role == "user"), len(entries))
    return entries[first + 1 :]
