"""Redaction: masks known secrets, and what looks like a key, in texts and addresses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

MASK: Final = "***"
MIN_SECRET_CHARS: Final = 8
"""A shorter secret is a placeholder such as `none` or `token`, which stands in half of all texts."""

_COULD_BE_KEY: Final = re.compile(
    r"(?i:\bbearer\s+[^\s'\",]+)"
    r"|\b(?:sk|pk|key|api)[-_](?=[^\s'\",]*\d)[^\s'\",]+"
    r"|(?=[\w\-./+=]*\d)[\w\-./+=]{24,}"
)
_READ_CHARS: Final = 2000
_MAX_ERROR_CHARS: Final = 600
_NAMES: Final = ("key", "token", "secret", "passw", "authorization")
_KEY_NAMES: Final = f"(?:{'|'.join(_NAMES)})"
_KEY_IN_JSON: Final = re.compile(
    rf'("[^"\n]{{0,60}}{_KEY_NAMES}[^"\n]{{0,60}}"\s*:\s*)"(?:[^"\\]|\\.)*"', re.IGNORECASE
)
_MAY_HAVE_KEY_IN_JSON: Final = re.compile(rf'{_KEY_NAMES}[^"\n]{{0,200}}"\s*:\s*"')
"""Matches every folded text in which `_KEY_IN_JSON` finds something, and is ten times as fast;
folding may make a text longer."""
_BARE_KEY: Final = re.compile(r"\b(?:sk|pk)-[\w\-]{16,}|(?i:\bbearer\s+)[^\s'\",]{12,}")
_BARE_KEY_SIGNS: Final = ("sk-", "pk-", "bearer")
_SIGNS_IN_JSON: Final = tuple(
    re.compile(sign)
    for sign in (
        # In JSON a quotation mark of a text has a backslash before it, and that of a field none.
        *(rf'{name}[^"]{{0,1300}}\\"(?:\s|\\[a-z0-9]+)*:' for name in _NAMES),
        r"sk-[\w\-]{16}",
        r"pk-[\w\-]{16}",
        "bearer",
    )
)
"""One of them is in the folded JSON of every text that `redact_keys` changes. One expression for
each beginning: those are found fifteen times as fast as alternatives."""


class Redactor:
    """Masks the secrets that it knows, and what looks like a key, in texts.

    Args:
        secrets: What must not be seen anywhere, unless it is shorter than `min_chars`.
        min_chars: The length from which on a secret is masked.
        mask: What stands in place of a secret.
    """

    def __init__(
        self,
        secrets: Iterable[SecretStr] = (),
        *,
        min_chars: int = MIN_SECRET_CHARS,
        mask: str = MASK,
    ) -> None:
        values = {secret.get_secret_value() for secret in secrets}
        known = (value for value in values if len(value) >= min_chars)
        # The longest first: a secret may hold another one.
        self._known = sorted(known, key=lambda value: (-len(value), value))
        self._mask = mask

    def text(self, text: str) -> str:
        """Mask known secrets and what looks like a key."""
        return redact_keys(self.known(text))

    def known(self, text: str) -> str:
        """Mask known secrets alone."""
        for secret in self._known:
            text = text.replace(secret, self._mask)
        return text

    def may_change(self, data: str) -> bool:
        """Tell whether JSON may hold a text that `text` changes; much faster than going through it."""
        known = (json.dumps(secret, ensure_ascii=False)[1:-1] for secret in self._known)
        if any(secret in data for secret in known):
            return True
        folded = data.casefold()
        return any(sign.search(folded) for sign in _SIGNS_IN_JSON)


def redact_keys(text: str) -> str:
    """Mask what looks like a key or a password, and leave identifiers as they are.

    For requests, traces and reports: nothing in them is meant to be secret, but a user may send a
    key all the same, and a report is passed on.
    """
    folded = text.casefold()
    if _MAY_HAVE_KEY_IN_JSON.search(folded):
        text = _KEY_IN_JSON.sub(rf'\g<1>"{MASK}"', text)
    if any(sign in folded for sign in _BARE_KEY_SIGNS):
        text = _BARE_KEY.sub(MASK, text)
    return text


def redact_error(text: str) -> str:
    """Mask everything that could be a key in an error that others wrote, and shorten it."""
    return _COULD_BE_KEY.sub(MASK, text[:_READ_CHARS])[:_MAX_ERROR_CHARS]


def redact_url(url: str) -> str:
    """Remove user name, password, query and fragment from an address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "[an address that cannot be read]"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
