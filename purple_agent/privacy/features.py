"""Features: the nouns of a text that may name a datum, and what is said around each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from purple_agent.privacy.meaning import Token, tokens
from purple_agent.privacy.sentence import ASKED, STOP, Words

_BEFORE, _BEHIND = 16, 12
"""How many words around a noun are looked at."""
DATA = frozenset({"KEY", "KEY?", "PRIVATE", "PRIVATE?", "MILD", "BULK"})
"""The groups of nouns that name data; those with a question mark mostly mean something else."""
_ANYBODYS = frozenset({"KEY", "KEY?", "BULK"})
_OTHERS = frozenset({"OTHER", "other", "they", "ROLE", "MANY"})
_DEEDS = frozenset({"TELL", "sense", "ask", "handle", "policy", "deny"})
_PERSONS = _OTHERS | {"SELF", "org", "you"}
_MOODS = frozenset({"handle", "policy", "deny", "play", "inject", "why", "ends", "fresh", "TELL"})
_ASIDE = frozenset({"SELF", "you", "is", "time", "id"})
_PLAIN = frozenset(
    [
        "and",
        "or",
        "but",
        "the",
        "a",
        "an",
        "of",
        "in",
        "at",
        "on",
        "to",
        "for",
        "from",
        "with",
        "by",
        "as",
        "so",
        "just",
        "if",
        "then",
        "that",
        "please",
    ]
)
_EDGE = Token(stem="^", sense="", group="")
_ENDS = frozenset({STOP, ASKED})
_CLOSE = 3


class Instance(NamedTuple):
    """A noun that may name a datum, with the features of the request that it stands in.

    `many` tells whether many people are spoken of.
    """

    group: str
    features: frozenset[str]
    many: bool


class _Around(NamedTuple):
    """The words before a noun, nearest first, and behind it: of its sentence, and of others."""

    near: list[Token]
    farther: list[Token]
    behind: list[Token]
    later: list[Token]


def instances(text: Words) -> Iterator[Instance]:
    """The nouns that may name data asked for. Looks at a fixed number of words around each."""
    sequence = tokens(text)
    for place, noun in enumerate(sequence):
        if noun.group not in DATA:
            continue
        around = _around(sequence, place)
        if _may_be_asked_for(noun, around):
            many = any(token.group in {"MANY", "BULK"} for token in (*around.near, *around.behind))
            yield Instance(noun.group, frozenset(_features(noun, around)), many)


def _around(sequence: Sequence[Token], place: int) -> _Around:
    left = sequence[max(0, place - _BEFORE) : place][::-1]
    right = sequence[place + 1 : place + 1 + _BEHIND]
    cut, end = _cut(left), _cut(right)
    return _Around(list(left[:cut]), list(left[cut:]), list(right[:end]), list(right[end:]))


def _cut(words: Sequence[Token]) -> int:
    return next((at for at, token in enumerate(words) if token.stem in _ENDS), len(words))


def _may_be_asked_for(noun: Token, around: _Around) -> bool:
    """Whether it is anybody's, or others are spoken of and the speaker is not just telling."""
    if noun.group in _ANYBODYS:
        return True
    if around.near and around.near[0].sense == "i":
        return False
    groups = {token.group for token in (*around.near, *around.behind)}
    begins = around.near and around.near[-1].sense in {"i", "my"}
    if begins and not groups & {"TELL", "ask", "sense"}:
        return False
    if any(token.group in _OTHERS or token.sense == "who" for words in around for token in words):
        return True
    return noun.group == "PRIVATE" and "SELF" not in groups


def _features(noun: Token, around: _Around) -> Iterator[str]:
    yield from (noun.group, f"={noun.sense}", f"_{noun.stem}")
    yield from _neighbours(noun.group, around)
    yield from _request(noun.group, around)
    for side, words in (("L", around.near), ("R", around.behind)):
        for at, token in enumerate(words):
            if token.sense and token.group not in _ASIDE:
                yield f"{side}{1 if at < _CLOSE else 2} {token.sense}"
            elif not token.sense and token.stem not in _PLAIN:
                yield f"{side.lower()} {token.stem}"
    for side, words in (("P", around.farther), ("N", around.later)):
        yield from (f"{side} {each.sense}" for each in words if each.group not in _ASIDE | {""})


def _neighbours(kind: str, around: _Around) -> Iterator[str]:
    """The words next to the noun, by their senses where they have one."""
    one, two, three = (token.face for token in (*around.near, _EDGE, _EDGE, _EDGE)[:3])
    next_, after, last = (token.face for token in (*around.behind, _EDGE, _EDGE, _EDGE)[:3])
    yield from (f"-1 {one}", f"-2 {two} {one}", f"-3 {three} {two} {one}")
    yield from (f"+1 {next_}", f"+2 {next_} {after}", f"+3 {next_} {after} {last}")
    yield from (f"{one} {kind} {next_}", f"{kind} -1 {one}", f"{kind} +1 {next_}")


def _request(kind: str, around: _Around) -> Iterator[str]:
    """What is to be done with the datum, whose it is, and in which mood that is said."""
    deeds = [token.group for token in around.near if token.group in _DEEDS] or ["-"]
    owner = _person(around.near[:7])
    later = _person(around.behind)
    asked = around.later[:1] and around.later[0].stem == ASKED
    deed, first, mark = deeds[0], deeds[-1], "?" if asked else "."
    yield from (f"deed {deed}", f"owner {owner}", f"later {later}")
    yield from (f"{kind} {deed}", f"{kind} {first} {deed}", f"{kind} {owner} {later}")
    yield from (f"{deed} {owner}", f"{deed} {owner} {later}", f"{kind} {deed} {owner}")
    yield from (f"{kind} {deed} {owner} {later}", f"{kind} {deed} {mark}", f"{kind} {owner} {mark}")
    for mood in {token.group for token in (*around.near, *around.behind)} & _MOODS:
        yield from (f"mood {mood}", f"{kind} mood {mood}", f"{kind} {owner} mood {mood}")
    opening = [token.face for token in reversed(around.near[-3:])]
    yield from (f"opens {' '.join(opening[:length])}" for length in (2, 3))


def _person(words: Sequence[Token]) -> str:
    return next((token.group for token in words if token.group in _PERSONS), "-")
