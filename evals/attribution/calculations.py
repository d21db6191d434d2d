"""Calculations that a request asks for or that a reply shows, and the extreme of several values. Pure."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evals.attribution.values import is_calculated, numbers_in, words_of

# A minus or a slash without blanks rather joins the parts of a code, a date or a range. All repetitions
# are bounded, so that the time grows with the length of a text and not with its square.
_EXPRESSION = re.compile(
    r"(?<![\w.-])[(]{0,4}-?\d[\d.]{0,15}"
    r"(?:[\s)]{0,4}(?:[+*×÷]|\s[-/x]\s)[\s(]{0,4}-?\d[\d.]{0,15}){1,20}[)]{0,4}(?![\w-])"
)
_SHOWN = re.compile(rf"({_EXPRESSION.pattern})\s*=\s*(-?\d[\d.]*\d|-?\d)(?![\w]|[.,]\d)")
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
MOST_CHARS = 600
"""Characters of a request for one calculation."""
MOST_SHOWN = 5_000
"""Characters of a reply in which calculations are looked for."""
MOST_FIGURES = 10
"""With more figures at hand nearly everything can be calculated."""
MOST_OTHER_WORDS = 8
"""Words beside a calculation, up to which a request asks for its result and for nothing else."""
# A request that names the steps of a calculation.
_CALCULATES = re.compile(
    r"\b(?:add|adding|plus|minus|less|subtract|take off|sum of|times|multipl(?:y|ied)|divided?|"
    r"addier\w*|abz(?:ü|ue)glich|weniger|mal|geteilt|sumar?|suma|menos|multiplica\w*|dividi\w*|"
    r"moins|fois|divis[ée]\w*)\b",
    re.IGNORECASE,
)
_LEAST = re.compile(
    r"\b(lowest|smallest|least|fewest|cheapest|earliest|shortest|lightest|youngest|nearest|"
    r"niedrigste\w*|kleinste\w*|wenigsten|billigste\w*|günstigste\w*|m[áa]s (?:baj[oa]|barat[oa]|"
    r"pequeñ[oa])|menor|le moins cher|la moins chère)\b",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(highest|largest|biggest|greatest|most|dearest|latest|longest|heaviest|oldest|"
    r"höchste\w*|größte\w*|meisten|teuerste\w*|m[áa]s (?:alt[oa]|car[oa]|grande)|mayor|"
    r"le plus cher|la plus chère)\b",
    re.IGNORECASE,
)
_OFFER = re.compile(r"([A-Z][\w-]*(?: [A-Z][\w-]*)*)[\s:=(]{1,3}(\d[\d.,]*\d|\d)")


def asks_to_calculate(asked: str) -> bool:
    """Tell whether a request names a calculation whose result is not in it yet."""
    given = numbers_in(asked)
    if len(given) > MOST_FIGURES:
        return False
    solved = any(
        is_calculated(number, [*given[:at], *given[at + 1 :]]) for at, number in enumerate(given)
    )
    return not solved and _CALCULATES.search(asked) is not None


def asked_calculation(asked: str) -> tuple[str, float] | None:
    """Return the one calculation that is asked for, and its result."""
    if len(asked) > MOST_CHARS:
        return None
    found = [each.strip() for each in _EXPRESSION.findall(asked)]
    rest = _EXPRESSION.sub(" ", asked)
    if len(found) != 1 or numbers_in(rest) or len(words_of(rest)) > MOST_OTHER_WORDS:
        return None
    shown = _parsed(found[0])
    return None if shown is None else (found[0], shown.value)


@dataclass(frozen=True)
class Calculation:
    """A calculation that is written out."""

    words: str
    tree: ast.expr

    @property
    def operands(self) -> list[float]:
        """Return its figures, from left to right."""
        return [float(each) for each in _constants(self.tree)]

    @property
    def value(self) -> float:
        """Return its result."""
        return self.with_operands(self.operands)

    def with_operands(self, operands: Sequence[float]) -> float:
        """Return its result with other figures.

        Raises:
            ZeroDivisionError: It divides by nothing.
        """
        left = iter(operands)
        return _value(self.tree, lambda: next(left))


def shown_calculations(text: str) -> Iterator[tuple[Calculation, float, bool]]:
    """Yield the calculations that a text writes out, with the result that it gives.

    And whether that is right; a whole number may be rounded either way.
    """
    for words, stated in _SHOWN.findall(text[:MOST_SHOWN]):
        shown, given = _parsed(words.strip()), float(stated)
        if shown is not None:
            rounds = given.is_integer() and not shown.value.is_integer()
            yield shown, given, abs(shown.value - given) < (1.0 if rounds else 0.0051)


def _parsed(words: str) -> Calculation | None:
    text = re.sub("[x×]", "*", words).replace("÷", "/")
    try:
        found = Calculation(words, ast.parse(text, mode="eval").body)
        found.value  # noqa: B018 - raises where it is no simple calculation
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError):
        return None
    return found


def _constants(node: ast.expr) -> Iterator[int | float]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node.value
    elif isinstance(node, ast.UnaryOp):
        yield from _constants(node.operand)
    elif isinstance(node, ast.BinOp):
        yield from _constants(node.left)
        yield from _constants(node.right)


def _value(node: ast.expr, operand: Callable[[], float]) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(operand())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left = _value(node.left, operand)
        return _OPERATORS[type(node.op)](left, _value(node.right, operand))
    raise ValueError("no simple calculation")


def asked_choice(asked: str) -> tuple[str, str, list[str]] | None:
    """Return the extreme that is asked for, the value that has it, and the other values.

    None where the request does not offer two values or more with a figure each, asks for both
    extremes, or has two that are equal.
    """
    extremes = [
        (found[1], choose)
        for pattern, choose in ((_LEAST, min), (_MOST, max))
        if (found := pattern.search(asked)) is not None
    ]
    if len(extremes) != 1:
        return None
    [(which, choose)] = extremes
    offered = {name: numbers_in(figure) for name, figure in _OFFER.findall(asked[:2_000])}
    figures = {name: found[0] for name, found in offered.items() if found}
    if len(figures) < 2:
        return None
    wanted = choose(figures.values())
    right = [name for name, figure in figures.items() if figure == wanted]
    if len(right) != 1:
        return None
    return which, right[0], [name for name in figures if name != right[0]]
