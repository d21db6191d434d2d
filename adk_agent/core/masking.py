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

_KEY_NAMES = ("key", "token", "secret", "passw", "authorization")
_SIGNS_IN_JSON = tuple(
    re.compile(sign)
    for sign in (
        # In JSON a quotation mark of a text has a backslash before it, and that of a field none.
        *(rf'{name}[^"]{{0,1300}}\\"(?:\s|\\[a-z0-9]+)*:' for name in _KEY_NAMES),
        r"sk-[\w\-]{16}",
        r"pk-[\w\-]{16}",
        "bearer",
    )
)
"""One of them is in the folded JSON of every text that `without_keys` changes. One expression for
each beginning: those are found fifteen times as fast as alternatives."""


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


def may_hold_keys(text: str) -> bool:
    """Tell whether JSON may hold a text that `without_keys` changes."""
    folded = text.casefold()
    return any(sign.search(folded) for sign in _SIGNS_IN_JSON)


def without_credentials(url: str) -> str:
    """An address without user name, password, query and fragment."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
