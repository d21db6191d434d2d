"""The traceability extension: the steps that a participant reports, read from both dialects.

The specification's dialect puts what was called into `step_action`; the one of the sample code is
flat, with `name`, `parameters` and `requests` in the step itself. A report is untrusted input:
everything in it is bounded, and what is wrong with it becomes a problem in words, with a count.
Others import it from here. May import `address`, `extensions` and `replies` of `a2a`, and the
modules beside the folders of `tau_bridge`.
"""

from __future__ import annotations

from tau_bridge.a2a.traceability.drafts import describe_json
from tau_bridge.a2a.traceability.finding import (
    find_response_traces,
    is_response_trace,
    is_step,
    traces_within,
)
from tau_bridge.a2a.traceability.limits import FILE_LIMITS, ReportLimits
from tau_bridge.a2a.traceability.reading import (
    ReportedTrace,
    in_order,
    read_response_trace,
    starts,
)
from tau_bridge.a2a.traceability.writing import write_response_trace
from tau_bridge.errors import ReportError

__all__ = [
    "FILE_LIMITS",
    "ReportError",
    "ReportLimits",
    "ReportedTrace",
    "describe_json",
    "find_response_traces",
    "in_order",
    "is_response_trace",
    "is_step",
    "read_response_trace",
    "starts",
    "traces_within",
    "write_response_trace",
]
