"""Parsing of untrusted JSON, within limits."""

from __future__ import annotations

import json
from typing import Any, NoReturn

MAX_DEPTH = 64


def read_json(text: str) -> Any:
    """Parse JSON.

    Raises:
        ValueError: It is not JSON, is nested deeper than `MAX_DEPTH`, or cannot be sent on as JSON
            in UTF-8, because it has an infinity or a lone surrogate.
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
    """Parse a text as JSON; return the text itself if that fails."""
    try:
        return read_json(text)
    except ValueError:
        return text


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON can express but UTF-8 cannot."""
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
    raise ValueError(f"{name} is not JSON")
