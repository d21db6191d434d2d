"""finite_json: JSON that can be written again.

A2A keeps every number as a double. One that is not finite can be taken in, and nothing that holds
it can be written as JSON ever again: neither its task, nor a list with that task in it. So it is
with half of a character, a surrogate without its other half, which JSON can escape and UTF-8 has not.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

_MOST_SHOWN = 40
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class UnwritableError(ValueError):
    """A JSON text holds something that cannot be written again. The message says why."""


class NotFiniteError(UnwritableError):
    """A number of a JSON text is NaN, infinite, or beyond what a double can hold."""


class HalfCharacterError(UnwritableError):
    """A text has a surrogate without its other half."""


def finite_json(text: bytes) -> Any:
    """Return the value of a JSON text in UTF-8.

    Raises:
        NotFiniteError: One of its numbers is not finite as a double.
        HalfCharacterError: One of its texts or keys has a lone surrogate.
        UnicodeDecodeError: It is not UTF-8.
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    # Bytes would be taken for UTF-16 where they look like it; on the wire JSON is UTF-8.
    readable = text.decode("utf-8-sig")
    value = json.loads(readable, parse_constant=_finite, parse_float=_finite, parse_int=_whole)
    if _SURROGATE.search(text) and not _is_utf_8(value):
        raise HalfCharacterError(
            "a text has half of a character, a surrogate without its other half"
        )
    return value


def _is_utf_8(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        shown = text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
        raise NotFiniteError(f"{shown} is not a number that JSON can carry as a double")
    return number


def _whole(text: str) -> int:
    _finite(text)
    return int(text)
