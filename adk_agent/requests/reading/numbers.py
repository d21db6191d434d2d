"""Numbers: turns English number words into digits, and checks counts."""

from __future__ import annotations

import re

from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import alternatives, is_slip, words
from adk_agent.requests.refusal import Refusal
from tau_bridge.wording import TASK_NOUN

_UNITS = words("zero one two three four five six seven eight nine")
_TEENS = words("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}

_VALUES = {word: value for value, word in enumerate(_UNITS + _TEENS)}
_VALUES.update({word: 10 * value for value, word in enumerate(_TENS, 2)})

_UNIT = alternatives(_UNITS[1:])
_SMALL = rf"(?:{alternatives(_TENS)}(?:[\s-]+{_UNIT})?|{alternatives(_TEENS)}|{_UNIT}|zero)"
_HUNDREDS = rf"(?:(?:(?:{_SMALL}|an?)\s+)?hundred(?:\s+(?:and\s+)?{_SMALL})?)"
_BELOW_THOUSAND = rf"(?:{_HUNDREDS}|{_SMALL})"
_PHRASE = re.compile(
    rf"\b(?:(?:(?:{_BELOW_THOUSAND}|an?)\s+)?{alternatives(_SCALES)}"
    rf"(?:\s+(?:and\s+)?{_BELOW_THOUSAND})?|{_BELOW_THOUSAND})\b"
)
_PRONOUN = re.compile(r"\b(no|this|that|each|every|any|another|old|new|other)\s+one\b")
_THE_ONE = re.compile(
    r"\bone\b(?=\s+(?:at(?!\s+(?:a|once)\b)|that|which|is|running|under|we|i|you|here|there)\b)"
)
_DOZEN = re.compile(r"\b(?:(half\s+a|an?|[0-9]+)\s+)?dozen\b(?:\s+of\b)?")
_FIXED = (
    (re.compile(r"\b(?:a\s+)?(?:couple|pair)\b(?:\s+of\b)?"), "2"),
    (re.compile(r"\b(?:a|one)?\s*\bsingle\b"), " 1"),
    (re.compile(r"\b([0-9]+)\s+and\s+a\s+half\b"), r"\1.5"),
    (re.compile(r"\b(?:minus|negative)\s+(?=[0-9])"), "-"),
    (re.compile(r"\bno\s+(?=trials?\b|repetitions?\b|attempts?\b)"), "0 "),
)
_NOT_NUMBERS = frozenset(
    words("for our there tree then teen even tens none ones seen weight height sever the fie")
)
_LONGEST_NUMBER = 9
_COUNTED = rf"(?:DOMAIN|{TASK_NOUN}|trials?|trails?|steps?)\b"
_GROUPED = rf"(?<![0-9,.])([0-9]{{1,3}}(?:,[0-9]{{3}})+)(?=\s+{_COUNTED})"
"""Digits with thousands separators."""
_AN_ITEM = r"\ban?\s+(?=(?:DOMAIN\s+)?(?:task|trial)\b)"
"""An article that counts one thing."""
_IN_PLACE_OF_A_NUMBER = rf"\b([a-z]{{3,}})(?=\s+{_COUNTED})"


def with_digits(text: str, vocabulary: Vocabulary) -> tuple[str, list[str]]:
    """Write the number words of a lower-case text as digits; also return a warning for each repair.

    `a dozen` is 12, `a couple of` 2, `a shop task` 1. A number word with one letter swapped, lost
    or doubled is repaired if it is in the place of a number.
    """
    warnings: list[str] = []

    def repair(match: re.Match[str]) -> str:
        word = match[1]
        meant = [name for name in _VALUES if is_slip(word, name)]
        if word in _NOT_NUMBERS or word in _VALUES or len(meant) != 1:
            return word
        warnings.append(f"{word!r} was read as {meant[0]!r}")
        return meant[0]

    text = _THE_ONE.sub("it", _PRONOUN.sub(r"\1 it", text))
    text = vocabulary.pattern(_IN_PLACE_OF_A_NUMBER).sub(repair, text)
    text = _PHRASE.sub(lambda match: str(_value(match[0])), text)
    text = _DOZEN.sub(lambda match: _dozens(match[1]), text)
    for pattern, replacement in _FIXED:
        text = pattern.sub(replacement, text)
    text = vocabulary.pattern(_GROUPED).sub(lambda match: match[1].replace(",", ""), text)
    return vocabulary.pattern(_AN_ITEM).sub("1 ", text), warnings


def _value(phrase: str) -> int:
    total = group = 0
    for word in re.split(r"[\s-]+", phrase):
        if word in _VALUES:
            group += _VALUES[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in _SCALES:
            total += (group or 1) * _SCALES[word]
            group = 0
    return total + group


def _dozens(amount: str | None) -> str:
    if amount is None or amount in {"a", "an"}:
        return "12"
    return "6" if amount.startswith("half") else str(12 * int(amount[:_LONGEST_NUMBER]))


def whole(text: str, *, what: str, least: int = 1, most: int = 1_000_000) -> int:
    """Read a whole number.

    Args:
        text: Digits, perhaps with a sign or a fraction.
        what: The name of the number, for the message.
        least: The smallest number allowed.
        most: The largest number allowed.

    Raises:
        Refusal: `bad-number`.
    """
    digits = text.lstrip("-")
    if digits.isdecimal() and len(digits) <= _LONGEST_NUMBER and least <= int(text) <= most:
        return int(text)
    shown = text if len(text) <= 2 * _LONGEST_NUMBER else f"{text[:_LONGEST_NUMBER]}..."
    raise Refusal(
        "bad-number", f"{shown!r} cannot be the {what}: write a whole number from {least} to {most}"
    )
