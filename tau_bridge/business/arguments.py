"""Checks the arguments of a call against a tool's schema, and words complaints as services do."""

from __future__ import annotations

from tau_bridge.business.tools import Json

_KINDS = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_SHOWN_CHARS = 60


def complaint(schema: dict[str, Json], arguments: dict[str, Json]) -> str | None:
    """What is wrong with `arguments`; None where nothing is.

    Of JSON schema it knows `type`, `enum`, `minimum` and `required`; parameters that the schema
    does not have are refused.
    """
    properties = schema.get("properties", {})
    for name in sorted(arguments):
        if name not in properties:
            return f"unknown parameter {name[:_SHOWN_CHARS]!r}: {_takes(schema)}"
    for name in schema.get("required", []):
        if name not in arguments:
            return f"missing parameter {name!r}: {_takes(schema)}"
    for name in sorted(arguments):
        wrong = _wrong(properties[name], arguments[name])
        if wrong is not None:
            return f"parameter {name!r} {wrong}"
    return None


def _takes(schema: dict[str, Json]) -> str:
    required = set(schema.get("required", []))
    named = [
        f"{name} ({how.get('type', 'any')}{'' if name in required else ', optional'})"
        for name, how in schema.get("properties", {}).items()
    ]
    return f"it takes {', '.join(named) or 'none'}"


def _wrong(how: dict[str, Json], value: Json) -> str | None:
    kind = how.get("type")
    if kind in _KINDS and not _is(kind, value):
        return f"must be of type {kind}, not {_shown(value)}"
    if "enum" in how and value not in how["enum"]:
        return f"must be one of {', '.join(map(repr, how['enum']))}, not {_shown(value)}"
    if "minimum" in how and value < how["minimum"]:
        return f"must be at least {how['minimum']}, not {_shown(value)}"
    return None


def _is(kind: str, value: Json) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind])


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
