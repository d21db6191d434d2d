"""finite_json: JSON whose numbers a double can hold.

A2A keeps every number as a double. One that is not finite can be taken in, and nothing that holds
it can be written as JSON ever again: neither its task, nor a list with that task in it.
"""

from __future__ import annotations

import json
import math
from typing import Any

_MOST_SHOWN = 40


class NotFiniteError(ValueError):
    """A number of a JSON text is NaN, infinite, or beyond what a double can hold."""


def finite_json(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        NotFiniteError: One of its numbers is not finite as a double.
        UnicodeDecodeError: It is not UTF-8.
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    # Bytes would be taken for UTF-16 where they look like it; on the wire JSON is UTF-8.
    readable = text.decode("utf-8-sig")
    return json.loads(readable, parse_constant=_finite, parse_float=_finite, parse_int=_whole)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
        raise NotFiniteError(f"{shown} is not a number that JSON can carry as a double")
    return number


def _whole(text: str) -> int:
    _finite(text)
    return int(text)
