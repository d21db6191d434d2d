"""Remembered: what was read out of the texts of a conversation, kept with it and forgotten with it.

A cache of a module would keep what people wrote after their conversation has been forgotten.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

MAX_KEPT = 300
"""Results of one conversation; the oldest go first."""
LONGEST = 20_000
"""Characters of a text whose reading is kept."""

Found = TypeVar("Found")

_kept: ContextVar[dict[Hashable, Any] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def using_cache(kept: dict[Any, Any]) -> Iterator[None]:
    """Keep what `cached_per_session` functions find below in `kept`, and find it there again."""
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


def cached_per_session(read: Callable[[str], Found]) -> Callable[[str], Found]:
    """Work a pure function of one text out once in a conversation.

    Outside of one, and for a text of more than `LONGEST` characters, it is worked out every time.
    """

    @functools.wraps(read)
    def reading(text: str) -> Found:
        kept = _kept.get()
        if kept is None or len(text) > LONGEST:
            return read(text)
        key = (read.__module__, read.__qualname__, text)
        if key not in kept:
            if len(kept) >= MAX_KEPT:
                del kept[next(iter(kept))]
            kept[key] = read(text)
        found: Found = kept[key]
        return found

    return reading
