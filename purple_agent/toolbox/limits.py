"""ToolLimits: how much a tools endpoint may send, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class ToolLimits:
    """Bounds of everything that is asked of a tools endpoint.

    Args:
        timeout_s: For one call or one listing, with all its repetitions.
        detour_s: For connecting to one of a host's addresses while there are others.
        max_bytes: Bytes of one answer, and of the arguments of one call.
        max_retries: Repetitions of a read; a write is never repeated.
        retry_wait_s: Before the first repetition; twice as long before the next.
    """

    timeout_s: float = 20.0
    detour_s: float = 2.0
    max_bytes: int = 2_000_000
    max_retries: int = 2
    retry_wait_s: float = 0.2
