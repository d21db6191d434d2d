"""Values: what a text holds that may fill a parameter, found by its form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final, Literal

from purple_agent.session_cache import cached_per_session

LONGEST_TEXT: Final = 8_000
"""Characters of a text that are looked at."""
MOST_VALUES: Final = 60
"""Values that are taken from one text."""

Kind = Literal["id", "money", "number", "percent", "date", "email", "phone", "quoted"]

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_MONTH: Final = rf"(?:{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in _MONTHS)})"
_NUMBER_WORDS: Final = {
    word: number
    for number, word in enumerate(
        [
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ],
        start=1,
    )
}
_CURRENCY: Final = r"(?:usd|eur|gbp|chf|dollars?|euros?|pounds?|bucks)"
_FORMS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("quoted", re.compile(r"(?<![\w])[\"“']([^\"”“\n]{1,300}?)[\"”'](?![\w])")),
    ("email", re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}\b")),
    ("date", re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?\b")),
    ("date", re.compile(rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}\b", re.I)),
    ("date", re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\.?,? \d{{4}}\b", re.I)),
    ("phone", re.compile(r"(?<![\w-])\+?\d{2,4}(?:[- ]\d{2,4}){2,4}(?![\w-])")),
    ("money", re.compile(r"[$€£]\s?\d[\d,]{0,20}(?:\.\d+)?k?\b", re.I)),
    ("money", re.compile(rf"\b{_CURRENCY}\s?\d[\d,]{{0,20}}(?:\.\d+)?k?\b", re.I)),
    ("money", re.compile(rf"(?<![\w.-])\d[\d,]{{0,20}}(?:\.\d+)?k?\s?{_CURRENCY}\b", re.I)),
    ("percent", re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:%|percent\b)")),
    (
        "id",
        re.compile(r"(?<![\w-])(?=#?[A-Za-z_-]*\d)#?[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![\w-])"),
    ),
    ("id", re.compile(r"(?<![\w-])[A-Z]{2,8}-[A-Z]{2,10}(?![\w-])")),
    ("number", re.compile(r"(?<![\w.,/-])-?\d[\d,]{0,20}(?:\.\d+)?(?![\w/-]|\.\d)")),
    ("number", re.compile(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", re.I)),
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A value and where it stands. `text` is fit to be used, such as 2026-03-05 for a date."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def number(self) -> Decimal | None:
        """The value as a number, where it is one."""
        return _number(self.text)


@cached_per_session
def values_in(text: str) -> tuple[Found, ...]:
    """The values of a text in order. What is read as one kind is not read as another as well.

    A quoted text is the exception: it may be an id in quotes.
    """
    text = text[:LONGEST_TEXT].replace("’", "'")
    taken, found = bytearray(len(text)), list[Found]()
    for kind, form in _FORMS:
        for match in form.finditer(text):
            start, end = match.span()
            if kind == "id" and not _is_id(match.group()):
                continue
            if any(taken[start:end]) or len(found) >= MOST_VALUES:
                continue
            if kind != "quoted":
                taken[start:end] = b"\x01" * (end - start)
            found.append(Found(kind=kind, text=_plain(kind, match), start=start, end=end))
    return tuple(sorted(found, key=lambda value: (value.start, value.kind != "quoted")))


def _is_id(token: str) -> bool:
    """Whether a token is an id rather than a number, or a word such as "4x"."""
    return len(token) > 2 and not token.isdigit()


def _plain(kind: Kind, match: re.Match[str]) -> str:
    if kind == "quoted":
        return match.group(1).strip()
    if kind == "date":
        return _iso(match.group())
    return match.group()


def _iso(text: str) -> str:
    named = re.search(_MONTH, text, re.I)
    if named is None:
        return text
    month = next(i for i, name in enumerate(_MONTHS, 1) if name[:3] == named.group()[:3].lower())
    day, year = (int(part) for part in re.findall(r"\d+", text)[:2])
    return f"{year:04d}-{month:02d}-{day:02d}"


def _number(text: str) -> Decimal | None:
    lowered = text.lower().strip()
    if lowered in _NUMBER_WORDS:
        return Decimal(_NUMBER_WORDS[lowered])
    digits = re.search(r"-?\d[\d,]{0,20}(?:\.\d+)?", lowered)
    if digits is None or len(digits.group()) > 40:
        return None
    try:
        value = Decimal(digits.group().replace(",", "").rstrip("."))
    except InvalidOperation:
        return None
    return value * 1000 if lowered[digits.end() :].startswith("k") else value


def id_form(identifier: str) -> str:
    """What ids of one kind have in common: letters as they are, each run of digits as `9`."""
    return re.sub(r"\d+", "9", identifier.lower())
