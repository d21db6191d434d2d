"""Checks the arguments of a call against a tool's schema, with error messages as services have them."""

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


def argument_error(schema: dict[str, Json], arguments: dict[str, Json]) -> str | None:
    """Return what is wrong with `arguments`; None where they fit.

    Supports `type`, `enum`, `minimum` and `required` of JSON schema, and refuses parameters that
    the schema does not have.
    """
    properties = schema.get("properties", {})
    for name in sorted(arguments):
        if name not in properties:
            return f"unknown parameter {name[:_SHOWN_CHARS]!r}: {_signature(schema)}"
    for name in schema.get("required", []):
        if name not in arguments:
            return f"missing parameter {name!r}: {_signature(schema)}"
    for name in sorted(arguments):
        error = _value_error(properties[name], arguments[name])
        if error is not None:
            return f"parameter {name!r} {error}"
    return None


def _signature(schema: dict[str, Json]) -> str:
    required = set(schema.get("required", []))
    named = [
        f"{name} ({how.get('type', 'any')}{'' if name in required else ', optional'})"
        for name, how in schema.get("properties", {}).items()
    ]
    return f"it takes {', '.join(named) or 'none'}"


def _value_error(schema: dict[str, Json], value: Json) -> str | None:
    kind = schema.get("type")
    if kind in _KINDS and not _is(kind, value):
        return f"must be of type {kind}, not {_shown(value)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"must be one of {', '.join(map(repr, schema['enum']))}, not {_shown(value)}"
    if "minimum" in schema and value < schema["minimum"]:
        return f"must be at least {schema['minimum']}, not {_shown(value)}"
    return None


def _is(kind: str, value: Json) -> bool:
    # In Python a bool is an int; in JSON it is not.
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind])


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."
