"""What is kept, or shown, of texts and addresses that may hold a secret."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

MASK = "***"
_KEYED = re.compile(
    r'("[^"\n]{0,60}(?:key|token|secret|passw|authorization)[^"\n]{0,60}"\s*:\s*)"(?:[^"\\]|\\.)*"',
    re.IGNORECASE,
)
_NAMED = re.compile(r'(?:key|token|secret|passw|authorization)[^"\n]{0,200}"\s*:\s*"')
"""Stands in every folded text in which `_KEYED` finds something, and is found ten times as fast;
folding may make a text longer."""
_BARE_SIGNS = ("sk-", "pk-", "bearer")
_BARE = re.compile(r"\b(?:sk|pk)-[\w\-]{16,}|(?i:\bbearer\s+)[^\s'\",]{12,}")


def without_keys(request: str) -> str:
    """A request as a run keeps it: values that look like keys or passwords are masked.

    Nothing in a request is meant to be secret, but somebody may send a key all the same, and a
    report is passed on.
    """
    folded = request.casefold()
    if _NAMED.search(folded):
        request = _KEYED.sub(rf'\g<1>"{MASK}"', request)
    if any(sign in folded for sign in _BARE_SIGNS):
        request = _BARE.sub(MASK, request)
    return request


def without_credentials(url: str) -> str:
    """An address without user name, password, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
