"""Cues from a reply beside what it answers: calculated wrongly, lost on the way, about something else. Pure."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator

from evals.attribution.calculations import (
    asked_calculation,
    asked_choice,
    asks_to_calculate,
    shown_calculations,
)
from evals.attribution.refusals import refusal_in
from evals.attribution.signs import RARE, STEM, STOP_WORDS, Found, excerpt_of
from evals.attribution.turns import Log, Turn
from evals.attribution.values import MAX_CHARS, is_calculated, numbers_in, words_of

# A name: words with a capital letter, inside a sentence.
_NAME = re.compile(r"(?<=[\w,;'’)] )[A-Z][a-z]\w+(?:[ -][A-Z][a-z]\w+)*")
_DAY = re.compile(
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:Jan|Febr)uary|March|April|May|June|July|August|"
    r"(?:Septem|Octo|Novem|Decem)ber"
)
_CODE = re.compile(r"```|\bdef \w+\(|\breturn \w|[{;]\s*\n")
_ASKS_FIGURE = re.compile(r"\b(?:how (?:many|much|old|long|far|high)|numbers?)\b", re.IGNORECASE)
_ASKS_NAME = re.compile(r"\b(?:who|whom|whose|where|when|at which|names?)\b", re.IGNORECASE)
MOST_WORDS = 40
"""Wrong words of an answer whose first speaker is looked for."""
MOST_INPUTS = 10
"""With more figures at hand nearly everything can be calculated."""
_CONCLUDES = re.compile(
    r"\b(?:hence|thus|altogether|in all|in total|makes?|which is|zusammen|insgesamt|macht|en total|en todo|"
    r"au total)\s+(\d[\d.]*\d|\d)(?![\w%]|[.,:]\d)",
    re.IGNORECASE,
)
LEAST_WORDS = 5
"""Words from which on a reply says what it is about."""
OFFERED = 2
"""Commas from which on a text lists values to choose from."""


def miscalculated(log: Log) -> Iterator[Found]:
    """Find replies that are not the result of the calculation or the choice that was asked for.

    And whatever writes out a calculation with another result than it has.
    """
    for at, turn in enumerate(log.turns):
        for shown, stated, is_right in shown_calculations(turn.text) if turn.is_own else ():
            if not is_right:
                yield Found(
                    at=at,
                    strength=1.0,
                    reason=f"{turn.agent} gives {shown.words} as {stated:g}, which is "
                    f"{shown.value:g}.",
                    excerpt=excerpt_of(turn.text),
                )
    for at, turn in _replies(log):
        choice = asked_choice(turn.asked)
        if choice is not None:
            which, right, others = choice
            if not _holds(turn.text, right) and any(_holds(turn.text, each) for each in others):
                yield Found(
                    at=at,
                    strength=1.0,
                    reason=f"{turn.agent} was asked for the {which}, which is {right}, and gives "
                    "another.",
                    excerpt=excerpt_of(turn.text),
                )
        asked = asked_calculation(turn.asked)
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
    """Find replies without the right value, though their speaker had been given it.

    Where answer and right answer differ in one value, that one is looked for as well.
    """
    if not log.expected or _holds(log.task, log.expected):
        return
    swapped = _swapped(log)
    for at, turn in _replies(log, answers=True):
        if not turn.text.strip() or _holds(turn.text, log.expected):
            continue
        # One of several that are offered is not given yet.
        told = [each for each in turn.heard[-1:] if each.count(", ") < OFFERED]
        handed = [turn.asked] if turn.kind == "reply" else []
        for sources, source in ((told, "was told"), (handed, "was handed")):
            right = log.expected if any(_holds(each, log.expected) for each in sources) else None
            if right is None and swapped is not None:
                wrong, wanted = swapped
                if _holds(turn.text, wrong) and not _holds(turn.text, wanted):
                    given = (_holds(each, wanted) and not _holds(each, wrong) for each in sources)
                    right = wanted if any(given) else None
            if right is not None:
                yield Found(
                    at=at,
                    strength=1.0,
                    reason=f"{turn.agent} {source} {excerpt_of(right)!r}, which is right, and "
                    "does not give it.",
                    excerpt=excerpt_of(turn.text),
                )
                break


def _swapped(log: Log) -> tuple[str, str] | None:
    """Return the one value of the answer that is wrong, and the one that should stand there."""
    if log.answer is None or log.expected is None:
        return None
    given, wanted = _values(log.answer), _values(log.expected)
    wrong = [value for value in dict.fromkeys(given) if value not in wanted]
    right = [value for value in dict.fromkeys(wanted) if value not in given]
    is_told = len(right) == 1 and _holds(log.task, right[0])
    return (wrong[0], right[0]) if len(wrong) == len(right) == 1 and not is_told else None


def wrong_value(log: Log) -> Iterator[Found]:
    """Find who brought what is wrong in the last answer into the work.

    What follows from what its speaker was given, an earlier step has to answer for.
    """
    if log.expected is None or log.answer is None:
        return
    given = set(words_of(log.task))
    right = {*words_of(log.expected), *STOP_WORDS}
    wrong = [word for word in dict.fromkeys(_values(log.answer)) if word not in right]
    if numbers_in(log.expected):
        wrong = [word for word in wrong if word[0].isdigit()]
    for word in [each for each in wrong if each not in given][:MOST_WORDS]:
        for at, turn in _replies(log):
            if word not in words_of(turn.text):
                continue
            inputs = (turn.asked, *turn.heard)
            if any(word in words_of(text) for text in inputs):
                continue
            numbers = [number for text in inputs for number in numbers_in(text)]
            derived = len(numbers) > 1 and all(is_calculated(n, numbers) for n in numbers_in(word))
            yield Found(
                at=at,
                strength=0.2 if derived and numbers_in(word) else 1.0,
                reason=f"{turn.agent} was the first to give {word}, which stands in the last "
                "answer and not in the right one.",
                excerpt=excerpt_of(turn.text),
            )
            break


def underived(log: Log) -> Iterator[Found]:
    """Find replies whose figure does not follow from those that their speaker had asked for.

    Nor from those of its request, which shows a fault if that spells a calculation out. And those
    that conclude a figure from others of their own.
    """
    yield from _concluded(log)
    for at, turn in _replies(log):
        heard = [number for text in turn.heard for number in numbers_in(text)]
        if _CODE.search(turn.asked):
            continue  # what a program gives, it takes more than arithmetic to tell
        given = [*heard, *numbers_in(turn.asked)]
        shown = [stated for _, stated, is_right in shown_calculations(turn.text) if is_right]
        own = [number for number in numbers_in(turn.text) if number not in (*given, *shown)]
        if own and len(given) > 1 and len(given) + len(own) <= MOST_INPUTS:
            *others, last = own
            if not is_calculated(last, [*given, *others]):
                yield Found(
                    at=at,
                    # Elsewhere it may follow by a rule, a rate or a unit that nobody spelled out.
                    strength=1.0 if asks_to_calculate(turn.asked) else 0.4,
                    reason=f"{turn.agent} gives {last:g}, which does not follow from what it was "
                    "told.",
                    excerpt=excerpt_of(turn.text),
                )


def _concluded(log: Log) -> Iterator[Found]:
    """Find turns that conclude a figure from others that they name, and from which it does not follow."""
    for at, turn in enumerate(log.turns):
        concluded = _CONCLUDES.search(turn.text[:MAX_CHARS])
        if concluded is None or not turn.is_own or turn.kind == "request":
            continue
        if _CODE.search(turn.text):
            continue
        named, [result, *_] = numbers_in(turn.text[: concluded.start()]), numbers_in(concluded[1])
        if 1 < len(named) <= MOST_INPUTS and not is_calculated(result, named):
            yield Found(
                at=at,
                strength=1.0,
                reason=f"{turn.agent} concludes {result:g} from figures from which it does not follow.",
                excerpt=excerpt_of(turn.text),
            )


def astray(log: Log) -> Iterator[Found]:
    """Find replies about others than they were asked for, where most replies keep to theirs.

    They bring up names that nobody had mentioned, or share no word with the question. A question
    for a name or a place is answered by a new one.
    """
    replies = [
        (at, turn)
        for at, turn in _replies(log)
        if turn.asked and turn.text.strip() and refusal_in(turn.text) is None
    ]
    names = {
        at: [] if _ASKS_NAME.search(turn.asked) else _strange_names(log, turn)
        for at, turn in replies
    }
    for strange, what in (
        ({at for at in names if names[at]}, "speaks of {}, which nobody had mentioned"),
        (
            {at for at, turn in replies if not _shares_word(turn)},
            "takes up no word of the question",
        ),
    ):
        if len(replies) < 3 or len(strange) > max(1, RARE * len(replies)):
            continue
        for at in sorted(strange):
            turn = log.turns[at]
            yield Found(
                at=at,
                strength=1.0 if names[at] else 0.4,
                reason=f"{turn.agent} {what.format(', '.join(names[at][:3]))}, unlike "
                f"{len(replies) - len(strange)} of {len(replies)} replies.",
                excerpt=excerpt_of(turn.text),
            )


def _shares_word(turn: Turn) -> bool:
    """Tell whether a reply takes up a word of its question, whatever its ending."""
    asked, said = (
        {word[:STEM] for word in words_of(text) if len(word) >= STEM or word[0].isdigit()}
        - STOP_WORDS
        for text in (turn.asked, turn.text)
    )
    if not asked or asked & said or len(words_of(turn.text)) < LEAST_WORDS:
        return True
    return bool(_ASKS_FIGURE.search(turn.asked) and numbers_in(turn.text))


def _strange_names(log: Log, turn: Turn) -> list[str]:
    known = set(words_of(" ".join((turn.asked, log.task, *turn.heard, *log.agents))))
    names = [each for each in _NAME.findall(turn.text[:MAX_CHARS]) if not _DAY.match(each)]
    return [name for name in dict.fromkeys(names) if not set(words_of(name)) & known]


def _replies(log: Log, *, answers: bool = False) -> Iterator[tuple[int, Turn]]:
    for at, turn in enumerate(log.turns):
        if turn.kind == "reply" or (answers and turn.kind == "answer"):
            yield at, turn


def _holds(text: str, value: str) -> bool:
    """Tell whether a text holds a value as whole words."""
    wanted = r"\s+".join(map(re.escape, value.split()))
    with contextlib.suppress(ValueError):
        return float(value) in numbers_in(text)
    return (
        re.search(rf"(?<![\w.]){wanted}(?!\w|[.,]\d)", text[:MAX_CHARS], re.IGNORECASE) is not None
    )


def _values(answer: str) -> list[str]:
    """Return what an answer gives: its numbers and names."""
    found = re.findall(r"[^\W_]+(?:[.@'-][^\W_]+)*", answer)
    marked = [word.lower() for word in found if word[0].isdigit() or word[0].isupper()]
    return marked or [word.lower() for word in found]
