"""Fences: text of others marked as such in a prompt, so that it cannot pass for our own."""

from __future__ import annotations

import re

_TAGS = ("policy", "tool-result", "note", "past-case", "summary", "proposed-call", "said")
_FENCE = re.compile(rf"<(/?\s*(?:{'|'.join(_TAGS)})\b)", re.IGNORECASE)


def defanged(text: str) -> str:
    """Return the text with everything that looks like one of our fences made harmless."""
    return _FENCE.sub("‹\\1", text)


def bounded(text: str, limit: int) -> str:
    """Return the text; of a longer one the beginning, and how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]} ... ({len(text) - limit} more characters are left out)"


def fenced(tag: str, text: str, limit: int) -> str:
    """Put text of others between our tags, at most `limit` characters of it."""
    return f"<{tag}>\n{defanged(bounded(text, limit))}\n</{tag}>"
