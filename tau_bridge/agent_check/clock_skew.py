"""Checks an agent's clock against our own: traces of several agents are merged by time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from tau_bridge.agent_check.findings import Finding, ok, skipped, warning

if TYPE_CHECKING:
    from a2a.types import TaskStatus

    from tau_bridge.agent_check.card_answer import CardAnswer
    from tau_bridge.agent_check.sending import Attempt, SeenEvent

MAX_SKEW_S: Final = 5.0
_DATE_STEP_S: Final = 1.0
"""The header Date has whole seconds."""
_HOUR_S: Final = 3600


def check_clock(answer: CardAnswer, attempts: Sequence[Attempt]) -> list[Finding]:
    """Return how far the agent's times are from ours, by the header Date and by its tasks."""
    header = _header_skew_s(answer)
    tasks = [skew for attempt in attempts for skew in _task_skews_s(attempt)]
    measured = {} if header is None else {"header Date": header}
    if tasks:
        measured["times of its tasks"] = max(tasks, key=abs)
    if not measured:
        return [skipped("it sends neither a Date nor times of tasks")]
    return [_finding(source, skew_s) for source, skew_s in measured.items()]


def _finding(source: str, skew_s: float) -> Finding:
    if abs(skew_s) <= MAX_SKEW_S:
        return ok(f"by the {source}, within {MAX_SKEW_S:g} s of ours")
    side = "ahead of" if skew_s > 0 else "behind"
    found = f"by the {source}, {abs(skew_s):.0f} s {side} ours"
    off = abs(skew_s) % _HOUR_S
    if abs(skew_s) >= _HOUR_S - MAX_SKEW_S and min(off, _HOUR_S - off) <= MAX_SKEW_S:
        return warning(found, "whole hours: write times in UTC, or with their zone")
    return warning(found, "synchronize its clock: reports of its calls are merged by time")


def _header_skew_s(answer: CardAnswer) -> float | None:
    try:
        date = parsedate_to_datetime(answer.headers.get("date", ""))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    ahead_s = (date - answer.received_at).total_seconds()
    # It was written at some time between the request and the answer.
    return _outside(ahead_s, earliest_s=-answer.elapsed_ms / 1000 - _DATE_STEP_S)


def _task_skews_s(attempt: Attempt) -> Iterator[float]:
    for seen in attempt.events:
        status = task_status(seen)
        if status is not None and status.HasField("timestamp"):
            time = _aware(status.timestamp.ToDatetime())
            earliest_s = (attempt.sent_at - seen.received_at).total_seconds()
            ahead_s = (time - seen.received_at).total_seconds()
            yield _outside(ahead_s, earliest_s=earliest_s)


def _aware(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC)


def _outside(ahead_s: float, *, earliest_s: float) -> float:
    """Return how far a time is outside of the span in which it must have been taken."""
    return ahead_s if ahead_s > 0 else min(ahead_s - earliest_s, 0.0)


def task_status(seen: SeenEvent) -> TaskStatus | None:
    """Return the status of a task in an event, if it has one."""
    if seen.event.HasField("task"):
        return seen.event.task.status
    return seen.event.status_update.status if seen.event.HasField("status_update") else None
