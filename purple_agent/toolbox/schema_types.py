"""The types of JSON schema: the types that a schema allows, and checks of values."""

from __future__ import annotations

from typing import Any, Final

_CLASSES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def types_of(schema: Any) -> tuple[str, ...]:
    """Return the types that a schema allows; empty if it names none."""
    named = schema.get("type") if isinstance(schema, dict) else None
    found = named if isinstance(named, list) else [named]
    return tuple(kind for kind in found if isinstance(kind, str))


def fits(value: Any, schema: Any) -> bool:
    """Tell whether a value is of a type that a schema allows."""
    types = types_of(schema)
    return not types or any(is_of(value, kind) for kind in types)


def is_of(value: Any, kind: str) -> bool:
    """Tell whether a value has a type; every value has a type unknown to JSON schema."""
    if isinstance(value, bool) and kind in ("integer", "number"):
        return False
    return kind not in _CLASSES or isinstance(value, _CLASSES[kind])
