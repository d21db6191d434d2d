"""Identifiers of traces by W3C Trace Context, as OpenTelemetry uses them.

Our own identifiers are texts of any form. What goes over the wire, and what an export of spans
holds, follows from them alone: an agent's own spans join ours whenever ours are exported.
"""

from __future__ import annotations

import hashlib
from typing import Final

TRACEPARENT: Final = "traceparent"
"""The header."""
_VERSION, _SAMPLED = "00", "01"


def wire_trace_id(trace_id: str) -> str:
    """Return a trace's 16 bytes, as 32 lower-case hexadecimal digits."""
    return _digest(trace_id, size=16)


def wire_span_id(trace_id: str, step_id: str | None = None) -> str:
    """Return the 8 bytes of a step, as 16 lower-case hexadecimal digits.

    Args:
        trace_id: The step's trace.
        step_id: The step; None for the span that encloses the whole trace.
    """
    return _digest(trace_id if step_id is None else f"{trace_id}\n{step_id}", size=8)


def traceparent(trace_id: str, step_id: str) -> str:
    """Return the header's value for a call that is this step, sampled."""
    return f"{_VERSION}-{wire_trace_id(trace_id)}-{wire_span_id(trace_id, step_id)}-{_SAMPLED}"


def _digest(text: str, *, size: int) -> str:
    return hashlib.blake2s(text.encode(errors="replace"), digest_size=size).hexdigest()
