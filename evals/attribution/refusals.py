"""refusal_in: the words with which a reply gives nothing of what was asked for. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

INABILITY = re.compile(
    r"\b(?:can ?not|can['’]t|could not|couldn['’]t|unable to|not able to|won['’]t|will not|"
    r"refus(?:e|es|ing) to|declin(?:e|es|ing) to|must (?:decline|refuse)|rather not|denied|"
    r"do(?:es)? not have access|don['’]t have access|no answer|outside (?:my|our)|not my job|"
    r"not (?:possible|allowed|permitted|available|found)|sorry|I (?:don['’]t|do not) know)\b",
    re.IGNORECASE,
)
"""Words with which somebody says that something cannot be done, or is not known."""
# Further ones, which say so only in a short reply that holds nothing else.
_SHORT = re.compile(
    r"\b(?:n/?a|unknown|unavailable|declin(?:e|ed)|refused?|forbidden|rejected|impossible|"
    r"(?:un|not )(?:authori[sz]ed|supported)|outside (?:of )?(?:what|the|my|our)|beyond (?:my|our|the)|"
    r"no (?:access|records?|data|information|idea|permission|results?|entry|comment)|pass|"
    r"(?:do|does|did|have|has|am|is|are)(?:n['’]t| not) (?:know|have|been able|aware|in a position|"
    r"do that|able|help|do this|answer|provide)|ask (?:somebody|someone) else|no longer able|"
    r"try again later|timed? ?out|failed|error)\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:error|fail\w*|denied|forbidden|unavailable|refused|rejected|declined|unauthori[sz]ed|"
    r"not[ _]\w+|no[ _]\w+|n/?a|unknown|none)\b",
    re.IGNORECASE,
)
_STATES = ("status", "state", "code", "type", "outcome")
_DIGITS = re.compile(r"\d")
SHORT_WORDS = 30
"""Words up to which a reply that holds no figure is short."""


def refusal_in(text: str) -> str | None:
    """Return the words of a reply that decline, or say that nothing is known; None without."""
    plain = text.strip()
    if plain.startswith("{"):
        return _of_json(plain)
    if len(plain.split()) > SHORT_WORDS or _DIGITS.search(plain):
        return None
    return plain if INABILITY.search(plain) or _SHORT.search(plain) else None


def _of_json(text: str) -> str | None:
    """Read an object that has an error, a negative state, or nothing but empty values."""
    try:
        given = json.loads(text)
    except ValueError:
        return None
    if not isinstance(given, Mapping):
        return None
    negative = any(_is_negative(name.lower(), value) for name, value in given.items())
    holds = [
        value
        for name, value in given.items()
        if name.lower() not in (*_STATES, "message", "note", "reason", "error", "detail", "ok")
        and value not in (None, "", [], {})
    ]
    return text if not holds and (negative or given) else None


def _is_negative(name: str, value: Any) -> bool:
    if name in ("error", "errors"):
        return bool(value)
    if name in ("ok", "success"):
        return value is False
    return name in _STATES and isinstance(value, str) and bool(_NEGATIVE.search(value))
