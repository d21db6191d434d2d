"""JSON of others: the value that a text stands for, within bounds."""

from __future__ import annotations

import json
from typing import Any, NoReturn

MAX_DEPTH = 64


def read_json(text: str) -> Any:
    """Read JSON.

    Raises:
        ValueError: It is no JSON, is nested deeper than `MAX_DEPTH`, or holds what cannot be sent
            on as JSON in UTF-8: infinity, half a surrogate pair.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if depth_exceeds(value, MAX_DEPTH):
            raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    return value


def json_or_text(text: str) -> Any:
    """Read a text as JSON; return the text itself where it is none of use."""
    try:
        return read_json(text)
    except ValueError:
        return text


def without_surrogates(text: str) -> str:
    """Return a text without lone surrogates, which JSON can name and no message or file can hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def depth_exceeds(value: Any, depth: int) -> bool:
    """Tell whether lists and objects are nested deeper than `depth` levels."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(inner, (dict, list)) for inner in level)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
