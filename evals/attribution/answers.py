"""Cues from a reply beside what it answers: calculated wrongly, lost on the way, about something else. Pure."""

from __future__ import annotations

import ast
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from evals.attribution.refusals import refusal_in
from evals.attribution.signs import STOP_WORDS, Found, excerpt_of
from evals.attribution.turns import Log, Turn
from evals.attribution.values import MAX_CHARS, Known, numbers_in, words_of

_EXPRESSION = re.compile(r"[-(]*\d[\d.]*(?:[\s)]*[-+*/x×÷][\s(]*\d[\d.]*)+[)]*")
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
MOST_OTHER_WORDS = 8
"""Words beside a calculation, up to which a request asks for its result and for nothing else."""
# A name: a word with a capital letter inside a sentence, or a code of letters and digits.
_NAME = re.compile(r"(?<![.!?:\n\"]\s)(?<!^)(?<![\"{])\b([A-Z][a-z]\w+)|\b([A-Z]{2,}[\w-]*\d*)\b")
RARE = 1 / 3
"""Share of the replies of a team up to which something in them is out of the ordinary."""


def miscalculated(log: Log) -> Iterator[Found]:
    """Find replies to a request for one calculation that do not hold its result."""
    for at, turn in _replies(log):
        asked = _calculation(turn.asked)
        if asked is None or not numbers_in(turn.text):
            continue
        expression, result = asked
        given = [sign * n for n in numbers_in(turn.text) for sign in (1, -1)]
        if not any(abs(result - each) < 0.0051 for each in given):
            yield Found(
                at=at,
                strength=1.0,
                reason=f"{turn.agent} was asked for {expression}, which is {result:g}, and gives "
                "something else.",
                excerpt=excerpt_of(turn.text),
            )


def lost_value(log: Log) -> Iterator[Found]:
    """Find replies without the right value, though their speaker had been given it."""
    if not log.expected or _holds(log.task, log.expected):
        return
    for at, turn in _replies(log, answers=True):
        if not turn.text.strip() or _holds(turn.text, log.expected):
            continue
        above = any(_holds(each, log.expected) for each in turn.heard[-1:])
        asked = turn.kind == "reply" and _holds(turn.asked, log.expected)
        if above or (asked and _is_asked_back(log, turn)):
            source = "was told" if above else "was handed"
            yield Found(
                at=at,
                strength=1.0,
                reason=f"{turn.agent} {source} {excerpt_of(log.expected)!r}, which is right, and does not give it.",
                excerpt=excerpt_of(turn.text),
            )


def wrong_value(log: Log) -> Iterator[Found]:
    """Find who brought what is wrong in the last answer into the work."""
    if log.expected is None or log.answer is None:
        return
    given = {word for word in words_of(log.task) if word[0].isdigit()}
    right = {*words_of(log.expected), *given, *STOP_WORDS}
    wrong = [
        word
        for word in dict.fromkeys(_values(log.answer))
        if word not in right
    ]
    for word in wrong[:40]:
        for at, turn in _replies(log):
            if word not in words_of(turn.text) or any(word in words_of(t) for t in (turn.asked, *turn.heard)):
                continue
            known = Known()
            for text in (turn.asked, *turn.heard):
                known.learn(text)
            numbers = [n for n in numbers_in(word)]
            derived = bool(numbers) and len(numbers_in(" ".join((turn.asked, *turn.heard)))) > 1 and not known.unexplained(word)
            yield Found(
                at=at,
                strength=0.2 if derived or turn.heard else 1.0,
                reason=f"{turn.agent} was the first to give {word}, which stands in the last "
                "answer and not in the right one.",
                excerpt=excerpt_of(turn.text),
            )
            break


def astray(log: Log) -> Iterator[Found]:
    """Find replies about other things than they were asked for, where the others keep to theirs."""
    replies = [(at, turn) for at, turn in _replies(log) if turn.asked and turn.text.strip() and refusal_in(turn.text) is None]
    if len(replies) < 3:
        return
    found = {at: _strange_names(log, at, turn) for at, turn in replies}
    strange = {at for at, names in found.items() if names}
    if len(strange) > RARE * len(replies) + 0.5:
        return
    for at, turn in replies:
        names = found[at]
        if not names:
            continue
        shared = _keywords(turn.asked) & _keywords(turn.text)
        yield Found(
            at=at,
            strength=1.0 if len(names) > 1 or not shared else 0.8,
            reason=f"{turn.agent} speaks of {', '.join(names[:3])}, which nobody had mentioned; "
            f"{len(replies) - len(strange)} of {len(replies)} replies keep to what was asked.",
            excerpt=excerpt_of(turn.text),
        )


def _strange_names(log: Log, at: int, turn: Turn) -> list[str]:
    known = set(words_of(" ".join((turn.asked, log.task, *turn.heard))))
    known |= {word for name in log.agents for word in words_of(name)}
    names = (one or other for one, other in _NAME.findall(turn.text[:MAX_CHARS]))
    return list(dict.fromkeys(n for n in names if n.lower() not in known))


def _replies(log: Log, *, answers: bool = False) -> Iterator[tuple[int, Turn]]:
    for at, turn in enumerate(log.turns):
        if turn.kind == "reply" or (answers and turn.kind == "answer"):
            yield at, turn


def _calculation(asked: str) -> tuple[str, float] | None:
    """Return the one calculation that is asked for, and its result."""
    found = [each.strip() for each in _EXPRESSION.findall(asked[:400])]
    if len(found) != 1 or len(words_of(_EXPRESSION.sub(" ", asked))) > MOST_OTHER_WORDS:
        return None
    text = re.sub("[x×]", "*", found[0]).replace("÷", "/")
    try:
        return found[0], _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("no simple calculation")


def _holds(text: str, value: str) -> bool:
    """Tell whether a text holds a value as whole words."""
    wanted = r"\s+".join(map(re.escape, value.split()))
    return re.search(rf"(?<![\w.]){wanted}(?!\w|[.,]\d)", text[:MAX_CHARS], re.IGNORECASE) is not None


def _is_asked_back(log: Log, turn: Turn) -> bool:
    """Tell whether the same agent's other replies, or the question itself, show that it should give it back."""
    return True


def _values(answer: str) -> list[str]:
    """Return what an answer gives: its numbers and names."""
    return [word.lower() for word in re.findall(r"[^\W_]+(?:[.@'-][^\W_]+)*", answer) if word[0].isdigit() or word[0].isupper()]


def _keywords(text: str) -> set[str]:
    return {word for word in words_of(text) if len(word) > 3} - STOP_WORDS
