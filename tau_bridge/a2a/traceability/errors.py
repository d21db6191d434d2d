"""ReportError: what should have been a trace or a roster cannot be read as one."""

from __future__ import annotations

from tau_bridge.errors import BridgeError


class ReportError(BridgeError):
    """Not a trace, or not a roster. The message says where, with the JSON path, and what to do."""
