"""restore_integers: turns doubles that A2A made of integers into integers again. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_EXACT_BELOW = 2**53


def restore_integers(value: Any) -> Any:
    """Return a JSON value with whole floats as int, wherever a double is exact.

    A2A carries all numbers as doubles. From 2^53 on, a double stands for several integers, so
    those stay floats.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < _EXACT_BELOW else value
    if isinstance(value, Mapping):
        return {str(key): restore_integers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [restore_integers(item) for item in value]
    return value
