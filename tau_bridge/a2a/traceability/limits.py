"""ReportLimits: how much of a reported trace is read and kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tau_bridge.limits import Limits
from tau_bridge.recorder import MAX_NAME_CHARS, MAX_TEXT_CHARS


@dataclass(frozen=True, kw_only=True)
class ReportLimits(Limits):
    """Limits on one reported trace. All are positive.

    Raises:
        ValueError: One is not positive.
    """

    max_steps: int = 5_000
    """Steps kept, nested ones included. The rest is left out and counted."""
    max_depth: int = 6
    """Levels of traces nested in each other. Deeper ones are left out and counted."""
    max_text_chars: int = MAX_TEXT_CHARS
    """Characters kept of a request, a response or an error, as the recorder keeps them."""
    max_name_chars: int = MAX_NAME_CHARS
    """Characters kept of an id, a name, an end of the call or an additional attribute."""
    max_attributes: int = 32
    """Additional attributes kept of a step."""


FILE_LIMITS: Final = ReportLimits(max_steps=200_000)
"""Limits for files that the user gives: larger than one reply, and the user's own choice."""
