"""Days of the year in texts, however they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

Day = tuple[int, int]
"""Month and day."""

_MONTHS: Final = (
    "Jan(?:uary)?",
    "Feb(?:ruary)?",
    "Mar(?:ch)?",
    "Apr(?:il)?",
    "May",
    "June?",
    "July?",
    "Aug(?:ust)?",
    "Sept?(?:ember)?",
    "Oct(?:ober)?",
    "Nov(?:ember)?",
    "Dec(?:ember)?",
)
_NAME: Final = "|".join(_MONTHS)
_ISO: Final = re.compile(r"\b(?:19|20)\d{2}[-/](\d{1,2})[-/](\d{1,2})\b")
_SLASHED: Final = re.compile(r"\b(\d{1,2})/(\d{1,2})(?:/(?:\d{2}|\d{4}))?\b")
# With a capital: `may 5` and `march 2` may be verbs.
_MONTH_FIRST: Final = re.compile(rf"\b({_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b")
_DAY_FIRST: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_NAME})\b")
_SPAN: Final = re.compile(
    rf"\b({_NAME})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\s*(?:-|–|to|and|,)\s*(\d{{1,2}})\b"
)
_RELATIVE: Final = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|days?|weeks?|weekend|months?|earlier|later|next|"
    r"following|previous|last|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    re.IGNORECASE,
)


def days_said(text: str) -> dict[Day, str]:
    """Return the days that a text names beyond doubt, with its words: `May 15`, `2024-05-15`."""
    found = {(int(m[1]), int(m[2])): m[0] for m in _ISO.finditer(text)}
    found |= {(_month(m[1]), int(m[2])): m[0] for m in _MONTH_FIRST.finditer(text)}
    found |= {(_month(m[2]), int(m[1])): m[0] for m in _DAY_FIRST.finditer(text)}
    return {day: words for day, words in found.items() if day[0] <= 12 and day[1] <= 31}


def days_given(text: str) -> set[Day]:
    """Return every day that a text may name: `5/6` is the 5th of June and the 6th of May."""
    capitals = re.sub(r"\b[a-z]", lambda first: first[0].upper(), text)
    return {*days_said(text), *days_said(capitals), *_doubtful(capitals)}


def reckons(text: str) -> bool:
    """Check whether a text speaks of days in relation to others, from which one can be reckoned."""
    return _RELATIVE.search(text) is not None


def _doubtful(text: str) -> Iterator[Day]:
    for one, other in _SLASHED.findall(text):
        yield int(one), int(other)
        yield int(other), int(one)
    for name, day in _SPAN.findall(text):
        yield _month(name), int(day)


def _month(name: str) -> int:
    return next(n for n, each in enumerate(_MONTHS, 1) if re.fullmatch(each, name))
