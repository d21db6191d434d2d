"""Secrets: hides the values of secret fields in results of reads before the agent sees them.

Nobody can talk the agent into revealing a secret that it never read. Results of writes are not
changed, since a reset may return a new password for the user.
"""

from __future__ import annotations

import json
from dataclasses import replace

from purple_agent.case import Json, ToolResult
from purple_agent.toolbox.verbs import words_of

WITHHELD = "[withheld]"
"""Replaces a withheld value."""

_SECRETS = frozenset(
    {"cvc", "cvv", "passcode", "passphrase", "password", "passwd", "pin", "secret"}
)
_KEYS = frozenset({"access", "api", "encryption", "private", "secret", "signing"})
"""Words that make a field named `..._key` a secret."""
_TOKENS = frozenset({"access", "auth", "bearer", "refresh", "session"})
"""Words that make a field named `..._token` a secret."""


def without_secrets(result: ToolResult) -> ToolResult:
    """Return the result with the values of its secret fields replaced."""
    value = _cleared(result.value)
    if value == result.value:
        return result
    return replace(result, value=value, text=json.dumps(value, ensure_ascii=False))


def is_secret(field: str) -> bool:
    """Tell whether a field with this name is secret: `password`, `apiKey`, `access_token`."""
    words = words_of(field)
    if not words:
        return False
    *before, last = words
    if last == "key":
        return not _KEYS.isdisjoint(before)
    if last == "token":
        return not before or not _TOKENS.isdisjoint(before)
    return last in _SECRETS


def _cleared(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: WITHHELD if _is_told(item) and is_secret(key) else _cleared(item)
            for key, item in value.items()
        }
    return [_cleared(item) for item in value] if isinstance(value, list) else value


def _is_told(value: Json) -> bool:
    """Tell whether a field's value can be a secret, unlike that of `"password": true`."""
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""
