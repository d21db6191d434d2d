"""ToolLimits: limits for the size and time of a tools endpoint's answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ToolLimits:
    """Limits for requests to a tools endpoint.

    Args:
        timeout_s: Timeout for one call or listing, including retries.
        detour_s: Timeout for connecting to one of a host's addresses if there are others.
        max_bytes: Most bytes of one answer, and of the arguments of one call.
        max_retries: Most retries of a read; a write is never retried.
        retry_wait_s: Wait before the first retry; it doubles each time.
    """

    timeout_s: float = 20.0
    detour_s: float = 2.0
    max_bytes: int = 2_000_000
    max_retries: int = 2
    retry_wait_s: float = 0.2
