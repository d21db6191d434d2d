"""Finds the line of a key in a TOML file, for messages: `tomllib` tells it of syntax errors alone."""

from __future__ import annotations

import bisect
import tomllib
from collections.abc import Sequence
from typing import Any

Place = Sequence[str | int]
"""The keys and indices that lead to a value."""


def line_of(text: str, place: Place) -> int:
    """Return the line on which a value begins, or else what holds it; 1 if nothing does.

    Each statement ends with its line, and all up to one are a smaller file. So a value stands in the
    first statement with which that file holds it.

    Args:
        text: A file that `tomllib` can read.
        place: The keys and indices that lead to the value.
    """
    lines = text.splitlines(keepends=True)
    spans = _statements(lines)
    ends = range(len(spans))
    for length in range(len(place), 0, -1):
        inner = place[:length]

        def is_reached(index: int, inner: Place = inner) -> bool:
            return _holds("".join(lines[: spans[index][1]]), inner)

        found = bisect.bisect_left(ends, True, key=is_reached)
        if found < len(spans):
            return spans[found][0] + 1
    return 1


def _statements(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first line of each statement, and the one after its last, counted from 0."""
    spans = []
    start = 0
    for end in range(1, len(lines) + 1):
        if _parsed("".join(lines[start:end])) is None:
            continue  # a text or list goes on
        if lines[start].split("#")[0].strip():
            spans.append((start, end))
        start = end
    return spans


def _holds(text: str, place: Place) -> bool:
    value: Any = _parsed(text)
    try:
        for key in place:
            value = value[key]
    except (KeyError, IndexError, TypeError):
        return False
    return True


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
