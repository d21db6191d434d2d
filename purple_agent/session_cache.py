"""A cache of parsed texts that lives as long as their conversation.

A module-level cache would keep users' texts after their conversation has been forgotten.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

MAX_KEPT = 300
"""Most results of one conversation; the oldest is dropped first."""
LONGEST = 20_000
"""Most characters of a text whose result is cached."""

Found = TypeVar("Found")

_kept: ContextVar[dict[Hashable, Any] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def using_cache(kept: dict[Any, Any]) -> Iterator[None]:
    """Use `kept` as the cache of `cached_per_session` functions called in the block."""
    token = _kept.set(kept)
    try:
        yield
    finally:
        _kept.reset(token)


def cached_per_session(read: Callable[[str], Found]) -> Callable[[str], Found]:
    """Cache a pure function of one text per conversation.

    Outside a conversation, and for texts longer than `LONGEST`, it is called every time.
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
