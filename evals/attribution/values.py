"""Values in texts: which ones are there, which are new, and which simple arithmetic explains. Pure."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from itertools import combinations, pairwise

MAX_CHARS = 20_000
"""Characters of one text that are read."""
MAX_NUMBERS = 120
"""With more numbers at hand nearly everything can be calculated, so nothing is told from it."""

UNITS = (60.0, 100.0, 1000.0)
"""Ratios of common units: minutes, cents and percent, grams and metres."""
FEW_TERMS, MOST_TERMS = 6, 8
"""Numbers up to which the sums and differences of any of them are looked at, and those of all."""

_NUMBER = re.compile(r"(?<![\w.])(?<!\w-)\d{1,12}(?:,\d{3})*(?:\.\d{1,6})?(?!\w|-\w)")
_TIME = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?\b")
_DATE = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
# What prose marks as a value: bold, quoted, capitalised words, and numbers.
_MARKED = re.compile(
    r"\*\*([^*\n]{1,80})\*\*|\"([^\"\n]{1,80})\"|(?<![\w.])(\d[\d.,]*)|\b([A-Z][\w-]{2,})"
)
_ROW = re.compile(r"\s*(?:[-*]\s+)?([A-Za-z][\w ]{0,60}?)\s*[:=]\s+?(\S.{0,300}?)\s*")
_WORD = re.compile(r"[^\W_]+(?:[.@'-][^\W_]+)*")


def words_of(text: str) -> list[str]:
    """Return the words and numbers of a text in lower case, with what joins them inside."""
    return [found.lower() for found in _WORD.findall(text[:MAX_CHARS])]


def marked_values(text: str) -> list[str]:
    """Return the values that prose marks as such, in lower case: numbers, names, quoted, bold."""
    found = (next(filter(None, match.groups())) for match in _MARKED.finditer(text[:MAX_CHARS]))
    return [value.strip(" .,:;").lower() for value in found]


def named_values(text: str) -> Iterator[tuple[str, str]]:
    """Yield the rows `name: value` of a text or of a JSON object, with the name in lower case."""
    if text.lstrip().startswith("{"):
        yield from _json_rows(text)
        return
    for line in re.split(r"\n|;\s", text[:MAX_CHARS]):
        row = _ROW.fullmatch(line)
        if row is not None:
            yield row[1].lower(), row[2]


def _json_rows(text: str) -> Iterator[tuple[str, str]]:
    try:
        given = json.loads(text[:MAX_CHARS])
    except ValueError:
        return
    for name, value in given.items() if isinstance(given, dict) else ():
        if isinstance(value, str | int | float) and str(value).strip():
            yield name.lower(), str(value)


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text, without the parts of dates and of times of day."""
    plain = _TIME.sub(" ", _DATE.sub(" ", text[:MAX_CHARS]))
    return [float(found.replace(",", "")) for found in _NUMBER.findall(plain)]


def dates_in(text: str) -> set[date]:
    """Return the dates of a text that are written as 2026-01-31."""
    return {day for found in _DATE.findall(text[:MAX_CHARS]) if (day := _day(found)) is not None}


class Known:
    """All numbers and dates that are known at one point, and what can be calculated from them."""

    def __init__(self) -> None:
        self._numbers: set[float] = {0.0}
        self._dates: set[date] = set()

    def learn(self, text: str) -> None:
        """Add a text's numbers, with the products and their sums that its rows suggest."""
        total = 0.0
        for line in text[:MAX_CHARS].splitlines():
            found = numbers_in(line)
            self._numbers.update(found)
            products = [one * other for one, other in pairwise(found)]
            self._numbers.update(map(_cents, products))
            # The rows of a list, such as `2 x boots at 64.50`, add up.
            total = total + products[0] if len(products) == 1 else 0.0
            self._numbers.add(_cents(total))
        self._dates |= dates_in(text)

    def unexplained(self, text: str, *, sums: bool = True) -> list[str]:
        """Return the numbers and dates of a text that are not known and no calculation gives.

        Args:
            text: A value.
            sums: Whether sums and differences count, which give small numbers by chance as well.
        """
        found = []
        if 1 < len(self._numbers) <= MAX_NUMBERS:  # of nothing given, nothing follows
            known = {_cents(each) for each in self._numbers}
            found = [
                f"{number:g}" if number == int(number) else f"{number:.2f}"
                for number in numbers_in(text)
                if not (_is_product(number, known) or (sums and _is_sum(number, known)))
            ]
        return [*found, *(day.isoformat() for day in sorted(dates_in(text)) if self._is_odd(day))]

    def _is_odd(self, day: date) -> bool:
        """Tell whether a date is neither known nor a known number of days or months after one."""
        spans = {int(each) for each in self._numbers if 0 <= each <= 3660 and each == int(each)}
        for known in self._dates:
            if day == known or abs((day - known).days) in spans:
                return False
            months = (day.year - known.year) * 12 + day.month - known.month
            # The end of a shorter month stands for its missing days.
            if abs(months) in spans and (day.day == known.day or _is_last_of_month(day)):
                return False
        return bool(self._dates)


def _is_product(number: float, known: set[float]) -> bool:
    """Tell whether a number is known, or a product or percentage of known ones, rounded or not."""
    if _cents(number) in known or number in {math.floor(each) for each in known}:
        return True
    rounded = [each for each in known | {float(math.ceil(each)) for each in known} if each > 0]
    return any(
        is_near(number, a * b)
        or is_near(number, a * b / 100)
        or (b <= 100 and is_near(number, a * (100 - b) / 100))
        or (b <= 100 and number == math.floor(a * (100 - b) / 100))
        for a in rounded
        for b in rounded
    )


def _is_sum(number: float, known: set[float]) -> bool:
    """Tell whether a number is the sum or difference of two known ones, or of one and a product.

    The latter is what a basic fee and one for each piece come to.
    """
    if any(_cents(number - a) in known or _cents(number + a) in known for a in known):
        return True
    pieces = {float(math.ceil(each)) for each in known if 0 < each <= 100}
    return any(_cents(number - a * b) in known for a in known for b in pieces)


def is_calculated(number: float, given: Sequence[float]) -> bool:
    """Tell whether a number is a given one or their sum, or follows from two or three of them."""
    if any(_fits(number, each) for each in (*given, sum(given))):
        return True
    if len(given) <= FEW_TERMS and any(
        _fits(number, math.prod(chosen)) for n in (3, 4) for chosen in combinations(given, n)
    ):
        return True
    if any(_fits(number, each) for each in _signed_sums(given)):
        return True
    pairs = [
        each
        for at, a in enumerate(given)
        for b in given[at + 1 :]
        for each in (a + b, a - b, a * b, *(_shares(a, b)), *(_shares(b, a)))
    ]
    third = (
        each
        for pair in pairs
        for c in given
        for each in (pair - c, pair + c, pair * c, *_quotient(pair, c))
    )
    return any(_fits(number, each) for each in (*pairs, *third))


def _fits(number: float, calculated: float) -> bool:
    """Tell whether a number is a calculated one, or that in another unit, where it may be rounded."""
    one, other = abs(number), abs(calculated)
    return is_near(one, other) or any(
        abs(one * unit - other) <= 0.001 * other  # relative, or every small number would fit
        for unit in (*UNITS, *(1 / each for each in UNITS))
    )


def _signed_sums(terms: Sequence[float]) -> list[float]:
    """Return what adding or subtracting numbers comes to: all of them, or any if they are few."""
    signs = (1, -1, 0) if len(terms) <= FEW_TERMS else (1, -1) if len(terms) <= MOST_TERMS else ()
    sums = [0.0] if signs else []
    for term in terms if signs else ():
        sums = [each + sign * term for each in sums for sign in signs]
    return sums


def _shares(a: float, b: float) -> tuple[float, ...]:
    return (a * b / 100, a * (100 - b) / 100, a * (100 + b) / 100, *_quotient(a, b))


def _quotient(a: float, b: float) -> tuple[float, ...]:
    return (a / b,) if b else ()


def agrees(one: str, other: str) -> bool:
    """Tell whether a value is the other or a part of it, but for case and form of numbers."""
    return {_plain(word) for word in words_of(one)} <= {_plain(word) for word in words_of(other)}


Rows = dict[str, set[str]]
"""The values that were given under each name."""


def first_rows(rows: Iterable[tuple[str, str]]) -> Rows:
    """Return the values that were given under each name."""
    found: Rows = {}
    add_rows(found, rows)
    return found


def add_rows(known: Rows, rows: Iterable[tuple[str, str]]) -> None:
    """Add values under their names."""
    for name, value in rows:
        known.setdefault(name, set()).add(value)


def _plain(word: str) -> str:
    try:
        return f"{float(word):g}"
    except ValueError:
        return word


def _cents(number: float) -> float:
    return round(number, 2)


def is_near(number: float, other: float) -> bool:
    """Tell whether two numbers are the same, up to half a cent."""
    return abs(number - other) < 0.0051  # half a cent, and what a float loses


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _is_last_of_month(day: date) -> bool:
    return day.day >= 28 and (day + timedelta(days=1)).month != day.month
