"""RetryPolicy: when a request that did not reach its agent is sent again, and after how long. Pure.

After 429 (too many requests), 502, 503 and 504 (a gateway without its agent), and where the
connection was refused or broke before an answer began, the same request is sent again. By these
most servers say that they did not take the request. Where one did all the same, a repeat is safe:
the message id tells the agent that it has this message already.
"""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_TURNED_AWAY = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Limits on how often, and how long in all, an agent that is busy is waited for."""

    max_retries: int = 3
    max_wait_s: float = 30.0
    usual_wait_s: float = 1.0
    """The first wait where the agent names none; it doubles each time."""

    def wait_s(
        self, status: int, headers: Mapping[str, str], *, retries: int, waited_s: float
    ) -> float | None:
        """Return the seconds to wait before the request is sent again; None where it is not."""
        if status not in _TURNED_AWAY:
            return None
        return self._bound(_retry_after_s(headers), retries=retries, waited_s=waited_s)

    def wait_after_break_s(self, *, retries: int, waited_s: float) -> float | None:
        """Return the same where the connection was refused, or broke before an answer began."""
        return self._bound(None, retries=retries, waited_s=waited_s)

    def _bound(self, asked_s: float | None, *, retries: int, waited_s: float) -> float | None:
        if retries >= self.max_retries:
            return None
        wait_s = self.usual_wait_s * 2**retries if asked_s is None else asked_s
        return wait_s if wait_s + waited_s <= self.max_wait_s else None


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds in Retry-After; for a date, the seconds after the answer's own Date."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:10])
    until, now = _date(text), _date(headers.get("date", ""))
    if until is None or now is None:
        return None
    return max(0.0, (until - now).total_seconds())


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return None if date.tzinfo is None else date
