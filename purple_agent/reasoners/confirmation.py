"""Confirmation: tells whether a policy requires the user's confirmation before a change."""

from __future__ import annotations

import re
from typing import Final

_ASKS: Final = re.compile(
    r"\b(?:explicit|obtain|ask for|get|require|need|receive)\w*\b[^.\n]{0,200}\bconfirm"
    r"|\bconfirm\w*[^.\n]{0,200}(?:\(yes\)|\bbefore\b|\bprior\b)"
    r"|\bbefore\b[^.\n]{0,200}\bconfirm",
    re.IGNORECASE,
)


def asks_confirmation(policy: str) -> bool:
    """Tell whether a policy requires the user's confirmation anywhere; True in doubt."""
    return _ASKS.search(policy) is not None
