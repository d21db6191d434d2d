"""Reads single values of a report: texts, numbers, times and kinds of call. Pure, never raises.

What cannot be read becomes None, and the caller's counter of problems says so.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from evals.trace import CallType
from tau_bridge.integers import restore_integers
from tau_bridge.surrogates import replace_surrogates

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_NUMBER_CHARS: Final = 64
_MAX_COUNT: Final = 2**53
_KIND_NUMBERS: Final = {1: CallType.AGENT, 2: CallType.TOOL, 3: CallType.HOST}
"""The numbers of the specification's enum, and HOST, which it does not have, behind them."""
_KINDS: Final = dict(CallType.__members__)
_WORD_BREAK: Final = re.compile(r"[^A-Za-z]+")

_CAMEL: Final = {
    "traceId": "trace_id",
    "stepId": "step_id",
    "parentStepId": "parent_step_id",
    "callType": "call_type",
    "stepAction": "step_action",
    "stepType": "step_type",
    "toolInvocation": "tool_invocation",
    "toolName": "tool_name",
    "agentInvocation": "agent_invocation",
    "agentUrl": "agent_url",
    "agentName": "agent_name",
    "responseTrace": "response_trace",
    "totalTokens": "total_tokens",
    "additionalAttributes": "additional_attributes",
    "latencyMs": "latency_ms",
    "startTime": "start_time",
    "endTime": "end_time",
    "requestText": "request_text",
    "responseText": "response_text",
}
_CAMEL_NAMES: Final = frozenset(_CAMEL)

_CANONICAL: Final = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str
)

Problems = Counter[str]
"""The number of times that each thing was wrong."""


def summary(problems: Problems) -> tuple[str, ...]:
    """Return the problems in words, in alphabetical order."""
    return tuple(f"{count} x {what}" for what, count in sorted(problems.items()))


def snake_case(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the names that we know in snake_case, and without nulls."""
    if _CAMEL_NAMES.isdisjoint(value) and None not in value.values():
        return dict(value)  # most of them: five times as fast as going through the items
    return {_CAMEL.get(key, key): item for key, item in value.items() if item is not None}


def valid_text(text: str, problems: Problems) -> str:
    """Replace half characters (lone surrogates), which no file can hold."""
    replaced = replace_surrogates(text)
    if replaced != text:
        problems["text with half a character (a lone surrogate): replaced"] += 1
    return replaced


def canonical_json(value: Any) -> str | None:
    """Write JSON that is the same for equal values: sorted keys, integers without a fraction.

    None where it is nested too deep to be written.
    """
    try:
        return _CANONICAL.encode(restore_integers(value))
    except (RecursionError, ValueError, TypeError):
        return None


def call_type(value: Any) -> CallType | None:
    """Read AGENT, TOOL or HOST by name, number, or a spelling such as `CALL_TYPE_AGENT`."""
    if value is None:
        return None
    if isinstance(value, str) and len(value) <= _MAX_NUMBER_CHARS:
        kind = _KINDS.get(value) or _KINDS.get(_WORD_BREAK.split(value)[-1].upper())
        if kind is not None:
            return kind
    number = _number(value)
    return None if number is None else _KIND_NUMBERS.get(int(number))


def amount(value: Any, what: str, problems: Problems) -> float | None:
    """Read a number that is not negative, also one written as text (as JSON of protobuf does)."""
    if value is None:
        return None
    number = _number(value)
    if number is None or number < 0:
        problems[f"{what} that is no number from 0: not used"] += 1
        return None
    return number


def whole_amount(value: Any, what: str, problems: Problems) -> int | None:
    """Read a whole number that is not negative."""
    number = amount(value, what, problems)
    if number is None:
        return None
    if not number.is_integer() or number >= _MAX_COUNT:
        problems[f"{what} that is no whole number: not used"] += 1
        return None
    return int(number)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, str) and len(value) > _MAX_NUMBER_CHARS:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def time(value: Any, what: str, problems: Problems) -> datetime | None:
    """Read a time in UTC: ISO text (without a zone it is UTC), `{seconds, nanos}`, or since 1970.

    A number since 1970 may be in seconds, milliseconds, microseconds or nanoseconds; its size
    tells which.
    """
    if value is None:
        return None
    try:
        found = _time_in(value) if isinstance(value, str) else _time(value)
    except (ValueError, OverflowError, TypeError):
        found = None
    if found is None:
        problems[f"{what} that is no time: not used"] += 1
    return found


def _time(value: Any) -> datetime | None:
    if isinstance(value, Mapping):
        seconds, nanos = value.get("seconds", 0), value.get("nanos", 0)
        return _EPOCH + timedelta(seconds=int(seconds), microseconds=int(nanos) // 1000)
    if isinstance(value, datetime):
        return _in_utc(value)
    number = _number(value)
    if number is None:
        return None
    return _since_1970(value if isinstance(value, int) else number)


def _time_in(text: str) -> datetime | None:
    if len(text) > _MAX_NUMBER_CHARS:
        return None
    text = text.strip()
    if text[4:5] != "-" or not text[:4].isdigit():
        number = _number(text)
        if number is not None:
            return _since_1970(number)
    return _in_utc(datetime.fromisoformat(text))


def _in_utc(value: datetime) -> datetime:
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _since_1970(number: float) -> datetime:
    size = abs(number)
    if size < 1e11:
        return _EPOCH + timedelta(seconds=number)
    if size < 1e14:
        return _EPOCH + timedelta(milliseconds=number)
    return _EPOCH + timedelta(microseconds=number if size < 1e17 else number // 1000)
