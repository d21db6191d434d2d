"""Repair: corrects the names and types of a call if the meaning is certain."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from purple_agent.case import ToolCall, ToolSpec
from purple_agent.json_values import read_json
from purple_agent.toolbox.names import matching_name, spelled
from purple_agent.toolbox.schema_types import fits, is_of, types_of
from purple_agent.toolbox.verbs import entity_of, is_write

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?")


@dataclass(frozen=True, kw_only=True)
class Repaired:
    """A repaired call.

    Args:
        call: The call with known names and values of the expected types.
        changes: The changes, in words.
        problems: The reasons why it cannot be made; nothing is guessed.
    """

    call: ToolCall
    changes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def writes(name: str, specs: Sequence[ToolSpec]) -> bool:
    """Tell whether a call by this name may change something; for an unknown tool, by its verb."""
    spec = _spec(name, specs)
    return spec.is_write if spec else is_write(name)


def repaired(call: ToolCall, specs: Sequence[ToolSpec]) -> Repaired:
    """Check a call against the tools, and correct names and values.

    A name is replaced only with one that it certainly stands for: never a read with a write, and a
    write only with one that has the same verb. A value is converted if that loses nothing.
    """
    spec = _spec(call.name, specs) or _meant(call.name, specs)
    if spec is None:
        return Repaired(call=call, problems=(f"there is no tool {call.name[:64]!r}",))
    changes = [f"tool {call.name[:64]!r} -> {spec.name!r}"] if spec.name != call.name else []
    arguments, renamed = _renamed(call.arguments, spec)
    problems = _problems(arguments, spec)
    arguments, cast = _cast(arguments, spec.parameters["properties"])
    fixed = ToolCall(id=call.id, name=spec.name, arguments=arguments)
    return Repaired(call=fixed, changes=(*changes, *renamed, *cast), problems=problems)


def _spec(name: str, specs: Sequence[ToolSpec]) -> ToolSpec | None:
    return next((spec for spec in specs if spec.name == name), None)


def _meant(name: str, specs: Sequence[ToolSpec]) -> ToolSpec | None:
    """Return the tool that an unknown name stands for.

    All tools are compared, so that a read is not matched only because the intended tool writes.
    """
    found = matching_name(name, [spec.name for spec in specs])
    spec = _spec(found, specs) if found is not None else None
    if spec is None or not spec.is_write:
        return spec
    same_verb = spelled(name)[:1] == spelled(spec.name)[:1]
    return spec if same_verb and is_write(name) else None


def _renamed(
    arguments: Mapping[str, Any], spec: ToolSpec
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the arguments under the parameters' names, except two that match the same one."""
    properties: Mapping[str, Any] = spec.parameters["properties"]
    free = [name for name in properties if name not in arguments]
    wanted = {
        name: _parameter(name, value, free, spec)
        for name, value in arguments.items()
        if name not in properties
    }
    taken = [target for target in wanted.values() if target is not None]
    result: dict[str, Any] = {}
    changes: list[str] = []
    for name, value in arguments.items():
        target = wanted.get(name)
        if target is None or taken.count(target) > 1:
            result[name] = value
            continue
        result[target] = value
        changes.append(f"parameter {name[:64]!r} -> {target!r}")
    return result, tuple(changes)


def _parameter(name: str, value: Any, free: Sequence[str], spec: ToolSpec) -> str | None:
    """Return the free parameter that a name stands for, if the value fits its schema."""
    found = matching_name(name, free)
    if found is None and name == "id":
        found = next((known for known in free if known == f"{entity_of(spec.name)}_id"), None)
    if found is None:
        return None
    schema = spec.parameters["properties"][found]
    return found if fits(cast_value(value, schema), schema) else None


def _problems(arguments: Mapping[str, Any], spec: ToolSpec) -> tuple[str, ...]:
    properties = spec.parameters["properties"]
    missing = [name for name in spec.parameters["required"] if name not in arguments]
    unknown = [name for name in arguments if name not in properties]
    problems = [f"{spec.name!r} needs the parameter {name!r}" for name in missing]
    if spec.parameters.get("additionalProperties") is False:
        problems += [f"{spec.name!r} has no parameter {name[:64]!r}" for name in unknown]
    return tuple(problems)


def _cast(
    arguments: Mapping[str, Any], properties: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    result: dict[str, Any] = {}
    changes: list[str] = []
    for name, value in arguments.items():
        result[name] = cast_value(value, properties.get(name, True))
        if type(result[name]) is not type(value):
            changes.append(f"{name!r} given as {types_of(properties[name])[0]}")
    return result, tuple(changes)


def cast_value(value: Any, schema: Any) -> Any:
    """Convert a value to the type of a schema, if that loses nothing."""
    types = types_of(schema)
    if not types or fits(value, schema):
        return value
    for kind in types:
        cast = _CASTS.get(kind, _unchanged)(value)
        if is_of(cast, kind):
            return cast
    return value


def _unchanged(value: Any) -> Any:
    return value


def _to_integer(value: Any) -> Any:
    if isinstance(value, str) and _WHOLE.fullmatch(value) and value != "-0":
        return int(value)
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if whole else value


def _to_number(value: Any) -> Any:
    if not isinstance(value, str) or not _DECIMAL.fullmatch(value):
        return value
    if _WHOLE.fullmatch(value):
        return _to_integer(value)
    try:
        exact = Decimal(repr(float(value))) == Decimal(value)
    except (InvalidOperation, OverflowError):
        return value
    return float(value) if exact else value


def _to_boolean(value: Any) -> Any:
    return (
        {"true": True, "false": False}.get(value.lower(), value)
        if is_of(value, "string")
        else value
    )


def _to_string(value: Any) -> Any:
    return str(value) if is_of(value, "integer") and abs(value) < 10**18 else value


def _to_structure(value: Any) -> Any:
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{"):
        return value
    try:
        return read_json(value)
    except ValueError:
        return value


_CASTS = {
    "integer": _to_integer,
    "number": _to_number,
    "boolean": _to_boolean,
    "string": _to_string,
    "array": _to_structure,
    "object": _to_structure,
}
