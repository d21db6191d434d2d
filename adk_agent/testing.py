"""Fakes that work, for this package's tests and for anyone who extends it."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

from tau_bridge.clock import Runtime


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed_s = 0.0

    def now(self) -> datetime:
        """The time that was set."""
        return self._start + timedelta(seconds=self._elapsed_s)

    def monotonic_s(self) -> float:
        """Seconds since the start."""
        return self._elapsed_s

    def advance(self, seconds: float) -> None:
        """Move the clock on."""
        self._elapsed_s += seconds


def manual_runtime() -> Runtime:
    """A clock that stands still, and identifiers `id-1`, `id-2`, ..."""
    numbers = itertools.count(1)
    return Runtime(clock=ManualClock(), new_id=lambda: f"id-{next(numbers)}")
