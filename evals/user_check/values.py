"""Invented values: those that neither the user's instructions nor the agent gave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from evals.diagnosis.behaviour import Turn, short
from evals.leaks.values import HeldText, owned_values
from evals.user_check.dates import days_given, days_said, reckons
from evals.user_check.model import Certainty, UserFault
from evals.user_check.reading import Heard

_NAMED: Final = re.compile(r"\b[Mm]y (?:full )?name(?: is|['’]s)\s+([A-Z][\w'-]+\s+[A-Z][\w'-]+)")
_ZIP: Final = re.compile(r"\bzip(?:\s*code)?(?:\s+is|:)?\s+(\d{5})\b", re.IGNORECASE)
_AMOUNT: Final = re.compile(r"\$\s?(\d[\d,]*(?:\.\d{2})?)")
_ONLY_MARKS: Final = re.compile(r"[^a-z0-9]+")


def invented(heard: Heard) -> Iterator[UserFault]:
    """Yield the values that the user was the first to say, and does not have from its instructions."""
    known: set[str] = set()
    for turn in heard.said_by_user():
        given = heard.given_before(turn.message)
        for value, what, certainty in _unfounded(turn.read, given):
            if value not in known:
                known.add(value)
                reason = f"the user gave {what} {value!r}, which neither its instructions nor the agent did"
                yield _fault(turn, value, reason, certainty)


def _unfounded(text: str, given: Sequence[str]) -> Iterator[tuple[str, str, Certainty]]:
    """Yield each value without a source, what it is, and how sure that is."""
    values = {
        key: (kind, value) for key, (kind, value) in owned_values([text]).items() if kind != "name"
    }
    held = HeldText("\n".join(given))
    for key, (kind, value) in values.items():
        if not held.holds(key):
            yield value, f"the {kind}", "proven"
    compact = _ONLY_MARKS.sub("", " ".join(given).casefold())
    for what, pattern in (("the name", _NAMED), ("the zip code", _ZIP)):
        for value in pattern.findall(text):
            if _ONLY_MARKS.sub("", value.casefold()) not in compact:
                yield value, what, "proven"
    for value in _AMOUNT.findall(text):
        # It may be the sum or the difference of amounts that were given.
        if value.replace(",", "").removesuffix(".00") not in " ".join(given).replace(",", ""):
            yield f"${value}", "the amount", "possible"
    days = set().union(*(days_given(each) for each in given))
    for day, value in days_said(text).items():
        if day not in days:
            can_reckon = bool(days) and any(reckons(each) for each in given)
            yield value, "the date", "possible" if can_reckon else "proven"


def _fault(turn: Turn, value: str, reason: str, certainty: Certainty) -> UserFault:
    place = turn.read.find(value)
    around = turn.read[max(0, place - 60) : place + len(value) + 40] if place >= 0 else turn.read
    return UserFault(
        kind="invented",
        certainty=certainty,
        reason=reason,
        quote=short(around),
        message=turn.message,
    )
