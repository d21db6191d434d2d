"""The ResponseTrace that a member returns: its own steps, and its callees' below them. Pure.

The form is that of the A2A Traceability Extension: a flat list of steps linked by
`parent_step_id`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

TRACEABILITY_URI = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1"
TRACEABILITY_KEY = f"{TRACEABILITY_URI.removeprefix('https://')}/traceability"
"""Metadata key of a ResponseTrace."""
TIMESTAMP_URIS = (
    "https://github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1",
    "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1",
)
"""Spelled as in the specification, and as in its sample code."""

_EXTENSIONS = ",".join((TRACEABILITY_URI, *TIMESTAMP_URIS))
ACTIVATION_HEADERS = {"A2A-Extensions": _EXTENSIONS, "X-A2A-Extensions": _EXTENSIONS}
"""Headers of every call between members, for protocols 1.0 and 0.3."""

MAX_STEPS = 5_000
"""Most steps to take from one callee; later ones are left out."""
MAX_TEXT = 500
"""Most characters of an answer or an error to keep in a step."""

Step = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place of a message in a conversation: its sender and the calls above it.

    `step` numbers the calls on the way down: `2.1` is the first call of the agent that was called
    second. It is empty for the user's message.
    """

    caller: str
    step: str = ""

    @property
    def hops(self) -> int:
        """Count the calls between members on the way here."""
        return self.step.count(".") + 1 if self.step else 0

    def below(self, caller: str, number: int) -> Place:
        """Return the place of the `number`th call (from 1) that `caller` makes from here."""
        return Place(caller=caller, step=f"{self.step}.{number}" if self.step else str(number))


@dataclass(frozen=True, kw_only=True)
class Span:
    """Start and end of a step, in seconds since 1970."""

    start: float
    end: float


def agent_step(
    place: Place,
    span: Span,
    *,
    callee: str,
    url: str,
    request: str,
    response: str | None = None,
    error: str | None = None,
) -> Step:
    """Build the step of a call to another member. `place` is the call's own."""
    action = {"agent_name": callee, "agent_url": url, "requests": request}
    return _step(
        place.step,
        span,
        call_type="AGENT",
        step_action={"agent_invocation": action},
        additional_attributes=_attributes(place.caller, response, error),
    )


def tool_step(
    place: Place, span: Span, *, number: int, tool: str, member: str, found: Mapping[str, str]
) -> Step:
    """Build the step of a member's look-up in the call `place`, its `number`th step."""
    said = "; ".join(f"{name}: {value}" for name, value in found.items())
    return _step(
        f"{place.step or '0'}.{tool}.{number}",
        span,
        call_type="TOOL",
        step_action={"tool_invocation": {"tool_name": tool, "parameters": {}}},
        additional_attributes=_attributes(member, said, None),
    )


def nested(steps: Sequence[Any], *, parent: str) -> list[Step]:
    """Return a callee's steps with `parent` as the parent of top-level ones."""
    taken = [dict(step) for step in steps[:MAX_STEPS] if isinstance(step, Mapping)]
    return [
        step if step.get("parent_step_id") else {**step, "parent_step_id": parent} for step in taken
    ]


def response_trace(trace_id: str, steps: Sequence[Step]) -> dict[str, Any]:
    """Build the whole trace for a message's metadata."""
    return {"trace_id": trace_id, "steps": [{**step, "trace_id": trace_id} for step in steps]}


def steps_of(metadata: Mapping[str, Any]) -> list[Any]:
    """Return the steps in a reply's metadata; none if it has no ResponseTrace."""
    trace = metadata.get(TRACEABILITY_KEY)
    steps = trace.get("steps") if isinstance(trace, Mapping) else None
    return steps if isinstance(steps, list) else []


def read_place(call: Any) -> Place | None:
    """Read the place that a message states for itself; None if it is missing or invalid."""
    if not isinstance(call, Mapping):
        return None
    caller, step = call.get("caller"), call.get("step")
    if not isinstance(caller, str) or not isinstance(step, str):
        return None
    usable = len(caller) <= 100 and re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,31}", step)
    return Place(caller=caller, step=step) if usable else None


def _step(step_id: str, span: Span, **content: Any) -> Step:
    return {
        "step_id": step_id,
        **content,
        "latency": max(0, round((span.end - span.start) * 1000)),
        "start_time": _iso(span.start),
        "end_time": _iso(span.end),
    }


def _attributes(caller: str, response: str | None, error: str | None) -> dict[str, str]:
    stated = {"caller": caller, "response": response, "error": error}
    return {key: value[:MAX_TEXT] for key, value in stated.items() if value is not None}


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")
