"""Masks what could be a key in texts that others wrote."""

from __future__ import annotations

import re
from typing import Final

_SECRET: Final = re.compile(
    r"(?i:\bbearer\s+[^\s'\",]+)"
    r"|\b(?:sk|pk|key|api)[-_](?=[^\s'\",]*\d)[^\s'\",]+"
    r"|(?=[\w\-./+=]*\d)[\w\-./+=]{24,}"
)
_READ_CHARS: Final = 2000


def without_secrets(text: str, *, max_chars: int = 600) -> str:
    """An error's text, shortened, with everything that could be a key masked."""
    return _SECRET.sub("***", text[:_READ_CHARS])[:max_chars]
