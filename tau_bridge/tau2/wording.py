"""Wording: requests' names for the domains and the benchmark, and where `mock` is no domain."""

from __future__ import annotations

import re

LOOKALIKES = frozenset({"detail", "details", "retain", "retains", "airliner", "airliners"})
"""English words one letter away from a domain's name."""

_SPELLINGS = re.compile(r"\bair[\s-]lines?\b|\b(airline|retail|telecom)(?:s|'s)\b")
_BENCHMARK = re.compile(r"(?<![\w/.\-])(?:tau|τ)(?:-?[2²])?(?:-?(?=bench)|(?![\w/]))")
_PRETENDED = re.compile(r"\bmock\s+(?:the|up|data|api|llm|model|users?|it|implementation)\b")


def with_domains(text: str) -> str:
    """Put the names of domains and benchmark into a lower-case text, and no other `mock`."""
    text = _SPELLINGS.sub(lambda match: match[1] or "airline", text)
    text = _BENCHMARK.sub("tau2 ", text)
    return _PRETENDED.sub("such", text)
