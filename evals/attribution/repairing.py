"""A cue from the right answer: the one figure with which the other calculations would give it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from evals.attribution.calculations import Calculation, asks_to_calculate, shown_calculations
from evals.attribution.signs import Found, excerpt_of
from evals.attribution.turns import Log
from evals.attribution.values import is_near, numbers_in, words_of

MOST_NUMBERS = 16
"""Figures of one log up to which its calculations are looked for."""
LEAST_GIVEN = 100.0
"""From which on a given figure may stand for a misread one: smaller ones fit by chance."""
MOST_TIMES = 20.0
"""Ratio up to which a figure may stand in the place of another."""
# Words of a result; JSON names it as such.
_RESULT = re.compile(
    r"\b(?:so|hence|thus|then|leaves?|left|remain(?:s|ing)?|makes?|total\w*|sum|together|altogether|in all|"
    r"net|now|result|comes? to|zusammen|insgesamt|bleiben|also|macht|netto|en total|quedan|suman?|donc|reste)\b|"
    r"=|_total|total_",
    re.IGNORECASE,
)
_PERCENT = re.compile(r"%|\bper ?cent|\bprozent|\bpor ciento|\bpour cent", re.IGNORECASE)


@dataclass(frozen=True)
class _Kind:
    """A simple calculation of one to three figures."""

    calculate: Callable[..., float]
    words: str
    """The calculation with a place for each figure."""
    in_any_order: bool = False
    is_share: bool = False

    @property
    def terms(self) -> int:
        """Return how many figures it takes."""
        return self.words.count("{}")


_GIVEN = _Kind(lambda a: a, "{}")
_KINDS = (
    _GIVEN,
    _Kind(lambda a, b: a + b, "{} + {}", in_any_order=True),
    _Kind(lambda a, b: a * b, "{} * {}", in_any_order=True),
    _Kind(lambda a, b: a - b, "{} - {}"),
    _Kind(lambda a, b: a / b, "{} / {}"),
    _Kind(lambda a, b: a * b / 100, "{} % of {}", is_share=True),
    _Kind(lambda a, b: a * (100 - b) / 100, "{} less {} %", is_share=True),
    _Kind(lambda a, b: a * (100 + b) / 100, "{} and {} %", is_share=True),
    _Kind(lambda a, b, c: a + b + c, "{} + {} + {}", in_any_order=True),
    _Kind(lambda a, b, c: a * b * c, "{} * {} * {}", in_any_order=True),
    _Kind(lambda a, b, c: a + b - c, "{} + {} - {}"),
    _Kind(lambda a, b, c: a - b - c, "{} - {} - {}"),
    _Kind(lambda a, b, c: a * b + c, "{} * {} + {}"),
    _Kind(lambda a, b, c: a * b - c, "{} * {} - {}"),
    _Kind(lambda a, b, c: (a - b) / c, "({} - {}) / {}"),
)


@dataclass(frozen=True)
class _Formula:
    """A calculation of the figures at these places."""

    kind: _Kind
    places: tuple[int, ...]

    def value(self, values: Sequence[float]) -> float | None:
        """Calculate it from the values at its places; None where that cannot be done."""
        try:
            return self.kind.calculate(*(values[at] for at in self.places))
        except (ZeroDivisionError, OverflowError):
            return None

    def in_words(self, values: Sequence[float]) -> str:
        """Return the calculation with its figures."""
        return self.kind.words.format(*(f"{values[at]:g}" for at in self.places))


@dataclass(frozen=True)
class _Figure:
    at: int
    """The place of its turn."""
    value: float
    is_own: bool
    formula: _Formula | None


def repairs(log: Log) -> Iterator[Found]:
    """Find the figure that its speaker got wrong, by what the right answer takes.

    A figure follows from earlier ones or is news. If there is one piece of news in whose place a
    figure that does follow makes the last answer right, with all later calculations made again, its
    speaker miscalculated or misread.
    """
    target = _target(log)
    if target is None:
        return
    wrong, right = target
    has_shares = any(_PERCENT.search(turn.text) for turn in log.turns)
    figures = _figures(log, has_shares)
    places = [at for at, each in enumerate(figures) if is_near(each.value, wrong)]
    if not places or len(figures) > MOST_NUMBERS:
        return
    hits = []
    for place, figure in enumerate(figures[: places[0] + 1]):
        if figure.is_own and figure.formula is None and _concludes(log, figure):
            values = [each.value for each in figures]
            for formula in _all_formulas(_before(figures, figure.at), has_shares):
                value = formula.value(values)
                if value is None or value <= 0 or is_near(value, figure.value):
                    continue
                if not _may_stand_for(log, figures, place, formula, value):
                    continue
                if is_near(_replayed(figures, place, value)[places[0]], right):
                    hits.append((place, value, formula))
                    break
    if len(hits) == 1:
        [(place, value, formula)] = hits
        figure = figures[place]
        turn = log.turns[figure.at]
        how = formula.in_words([each.value for each in figures])
        follows = "was given" if formula.kind is _GIVEN else f"follows from {how}"
        yield Found(
            at=figure.at,
            strength=1.0,
            reason=f"{turn.agent} gives {figure.value:g}; with {value:g}, which {follows}, the "
            "answer would have been right.",
            excerpt=excerpt_of(turn.text),
        )


def _concludes(log: Log, figure: _Figure) -> bool:
    """Tell whether a figure is a result by its words, or restates one of the task."""
    turn = log.turns[figure.at]
    return (
        _RESULT.search(turn.text) is not None
        or asks_to_calculate(turn.asked)
        or bool(_unit_of(turn.text, figure.value) & set(words_of(log.task)))
    )


def _may_stand_for(
    log: Log, figures: Sequence[_Figure], place: int, formula: _Formula, value: float
) -> bool:
    """Tell whether a calculated value may be the one that was meant: most fit by chance.

    It has the size of the other one, and is made of the latest figure before it, or was given with
    the same unit.
    """
    if formula.kind is _GIVEN:
        meant, figure = figures[formula.places[0]], figures[place]
        unit = _unit_of(log.turns[figure.at].text, figure.value)
        is_same = bool(unit & _unit_of(log.turns[meant.at].text, meant.value))
        return is_same and value >= LEAST_GIVEN
    latest = max(_before(figures, figures[place].at), default=-1)
    is_near = MOST_TIMES > value / max(figures[place].value, 0.01) > 1 / MOST_TIMES
    return is_near and latest in formula.places


def _unit_of(text: str, number: float) -> set[str]:
    """Return the word behind a number in a text, in lower case."""
    found = re.search(rf"(?<![\w.]){number:g}\s+([^\W\d_]{{3,}})", text)
    return set() if found is None else {found[1].lower()}


def _target(log: Log) -> tuple[float, float] | None:
    """Return the one wrong figure of the answer and the right one in its place."""
    if log.answer is None or log.expected is None:
        return None
    given, wanted = numbers_in(log.answer), numbers_in(log.expected)
    wrong = [number for number in given if number not in wanted]
    right = [number for number in wanted if number not in given]
    return (wrong[0], right[0]) if len(wrong) == len(right) == 1 else None


def _figures(log: Log, has_shares: bool) -> list[_Figure]:
    """Return the figures of a log at their first mention, with how each follows from others."""
    found: list[_Figure] = []
    for at, turn in enumerate(log.turns):
        shown = {
            stated: each for each, stated, is_right in shown_calculations(turn.text) if is_right
        }
        for number in numbers_in(turn.text):
            if len(found) > MOST_NUMBERS:
                return found
            if any(is_near(number, each.value) for each in found):
                continue
            before = _before(found, at)
            formula = _formula_of(number, found, before, has_shares) if turn.is_own else None
            if number in shown:
                formula = _written_out(shown[number], found)
            found.append(_Figure(at=at, value=number, is_own=turn.is_own, formula=formula))
    return found


def _written_out(shown: Calculation, figures: Sequence[_Figure]) -> _Formula:
    """Return a calculation that a text writes out, of the figures that it takes from others."""
    operands = shown.operands
    places = {
        number: place
        for number, each in enumerate(operands)
        for place, figure in enumerate(figures)
        if is_near(figure.value, each)
    }

    def calculate(*taken: float) -> float:
        values = dict(zip(places, taken, strict=True))
        return shown.with_operands([values.get(at, each) for at, each in enumerate(operands)])

    return _Formula(_Kind(calculate, shown.words), tuple(places.values()))


def _before(figures: Sequence[_Figure], at: int) -> list[int]:
    return [place for place, each in enumerate(figures) if each.at < at]


def _formula_of(
    number: float, figures: Sequence[_Figure], before: Sequence[int], has_shares: bool
) -> _Formula | None:
    """Return how a number follows from earlier ones: the simplest way, from the latest of them."""
    values = [each.value for each in figures]
    fitting = [
        formula
        for formula in _all_formulas(before, has_shares)
        if (value := formula.value(values)) is not None and is_near(value, number)
    ]
    return max(fitting, key=lambda each: (-len(each.places), sum(each.places)), default=None)


def _all_formulas(before: Sequence[int], has_shares: bool) -> Iterator[_Formula]:
    """Yield every calculation of the figures at these places, and the sum of them all."""
    for kind in _KINDS:
        if has_shares or not kind.is_share:
            choose = combinations if kind.in_any_order else permutations
            yield from (_Formula(kind, places) for places in choose(before, kind.terms))
    if len(before) > 3:
        words = " + ".join("{}" for _ in before)
        yield _Formula(_Kind(lambda *terms: sum(terms), words), tuple(before))


def _replayed(figures: Sequence[_Figure], place: int, value: float) -> list[float]:
    """Return all values, with another one at a place and what follows from it."""
    values = [each.value for each in figures]
    values[place] = value
    for at in range(place + 1, len(figures)):
        formula = figures[at].formula
        if formula is not None:
            found = formula.value(values)
            values[at] = values[at] if found is None else found
    return values
