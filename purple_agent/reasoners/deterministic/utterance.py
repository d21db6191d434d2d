"""Utterance: a text of the user and the values in it that may fill parameters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from purple_agent.session_cache import cached_per_session

LONGEST_TEXT: Final = 8_000
"""Characters of a text that are looked at."""
MOST_VALUES: Final = 60
"""Values that are taken from one text."""

Kind = Literal["id", "money", "number", "percent", "date", "email", "quoted"]

_NUMBER_WORDS: Final = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_CURRENCY: Final = r"(?:usd|eur|gbp|chf|dollars?|euros?|pounds?|bucks)"
_AMOUNT: Final = r"\d[\d,]{0,20}(?:\.\d+)?k?"
# In this order: what is read as one kind is not read as a later one as well.
_FORMS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("quoted", re.compile(r"(?<![\w])[\"“']([^\"”“\n]{1,300}?)[\"”'](?![\w])")),
    ("email", re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}\b")),
    ("date", re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?\b")),
    ("money", re.compile(rf"[$€£]\s?{_AMOUNT}\b|\b{_CURRENCY}\s?{_AMOUNT}\b", re.I)),
    ("money", re.compile(rf"(?<![\w.-]){_AMOUNT}\s?{_CURRENCY}\b", re.I)),
    ("percent", re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:%|percent\b)")),
    (
        "id",
        re.compile(
            r"(?<![\w-])(?=#?[A-Za-z_-]*\d)(?!\d+(?![\w-])|\w{1,2}(?![\w-]))"
            r"#?[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![\w-])"
        ),
    ),
    ("id", re.compile(r"(?<![\w-])[A-Z]{2,8}-[A-Z]{2,10}(?![\w-])")),
    ("number", re.compile(r"(?<![\w.,/-])-?\d[\d,]{0,20}(?:\.\d+)?(?![\w/-]|\.\d)")),
    ("number", re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.I)),
)


@dataclass(frozen=True, kw_only=True)
class Value:
    """A value and where it stands."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def number(self) -> Decimal | None:
        """Return the value as a number; None where it is none."""
        lowered = self.text.lower().strip()
        if lowered in _NUMBER_WORDS:
            return Decimal(_NUMBER_WORDS.index(lowered))
        digits = re.search(r"-?\d[\d,]{0,20}(?:\.\d+)?", lowered)
        if digits is None or len(digits.group()) > 40 or not digits.group().isascii():
            return None
        value = Decimal(digits.group().replace(",", ""))
        return value * 1000 if lowered[digits.end() :].startswith("k") else value


@dataclass(frozen=True, kw_only=True)
class Utterance:
    """A text of the user and its values, in order."""

    text: str
    values: tuple[Value, ...]

    @property
    def ids(self) -> tuple[Value, ...]:
        """Return the ids, each once, also those in quotes."""
        first: dict[str, Value] = {}
        for value in self.values:
            quoted = value.kind == "quoted" and re.fullmatch(r"\S*\d\S*", value.text)
            if value.kind == "id" or quoted:
                first.setdefault(value.text.lstrip("#"), value)
        return tuple(first.values())

    def first(self, kind: Kind) -> str | None:
        """Return the first value of a kind; None for none."""
        return next((each.text for each in self.values if each.kind == kind), None)


@cached_per_session
def utterance_of(text: str) -> Utterance:
    """Read a text. A quoted value may hold further ones, such as an id."""
    plain = text[:LONGEST_TEXT].replace("’", "'")
    taken, found = bytearray(len(plain)), list[Value]()
    for kind, form in _FORMS:
        for match in form.finditer(plain):
            start, end = match.span()
            if any(taken[start:end]) or len(found) >= MOST_VALUES:
                continue
            if kind != "quoted":
                taken[start:end] = b"\x01" * (end - start)
            value = match.group(1).strip() if kind == "quoted" else match.group()
            found.append(Value(kind=kind, text=value, start=start, end=end))
    values = sorted(found, key=lambda value: (value.start, value.kind != "quoted"))
    return Utterance(text=text, values=tuple(values))


def id_shape(identifier: str) -> str:
    """Return what ids of one kind share: the letters as they are, each run of digits as `9`."""
    return re.sub(r"\d+", "9", identifier.lower())
