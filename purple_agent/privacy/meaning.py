"""Meaning: the words of a text by their stems and senses, so that words of one sense look alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from purple_agent.privacy.senses import GROUPS, SENSES
from purple_agent.privacy.sentence import ASKED, BLANK, OWNER, PAUSE, STOP, Words

_SHORTEST, _LONGEST = 6, 16
"""Of how many letters a word is whose misspelling is recognised."""
_LENGTHS = (5, 4, 3, 2, 1)
"""Of how many words a known phrase may be, longest first."""
_ENDINGS = (
    ("ies", 5, "y"),
    ("sses", 6, "ss"),
    ("xes", 5, "x"),
    ("ches", 6, "ch"),
    ("shes", 6, "sh"),
    ("ing", 6, ""),
    ("ed", 5, ""),
    ("s", 4, ""),
)


class Token(NamedTuple):
    """A word or known phrase by its stem, with its sense and their group; empty where it has none."""

    stem: str
    sense: str
    group: str

    @property
    def face(self) -> str:
        """What stands for it among its neighbours."""
        return self.sense or self.stem


def tokens(text: Words) -> list[Token]:
    """The words of a text, known phrases as one; of signs, only the ends of sentences."""
    stems = [_spelt(word) for word in text.words]
    found: list[Token] = []
    place = 0
    while place < len(stems):
        phrase = _phrase(stems, place)
        word = text.words[place]
        if phrase:
            found.append(_token(" ".join(phrase), _phrases()[phrase]))
        elif word == OWNER and found and not found[-1].sense:
            found[-1] = _token(found[-1].stem, "owner")
        elif word not in {OWNER, PAUSE}:
            found.append(_unknown(word, stems[place], found, is_name=place in text.names))
        place += len(phrase) or 1
    return found


def stem(word: str) -> str:
    """The word without the endings of plurals and of verbs."""
    for ending, shortest, instead in _ENDINGS:
        if word.endswith(ending) and len(word) >= shortest:
            if ending == "s" and word.endswith(("ss", "us", "is")):
                return word
            word = word[: -len(ending)] + instead
            break
    return word[:-1] if len(word) > len("code") and word.endswith("e") else word


def _token(stemmed: str, sense: str) -> Token:
    return Token(stemmed, sense, GROUPS.get(sense, sense))


def _phrase(stems: list[str], place: int) -> tuple[str, ...]:
    """The longest known phrase that begins at a place; empty where none does."""
    if stems[place] not in _first_words():
        return ()
    phrases = _phrases()
    candidates = (tuple(stems[place : place + length]) for length in _LENGTHS)
    return next((phrase for phrase in candidates if phrase in phrases), ())


def _unknown(word: str, stemmed: str, found: list[Token], *, is_name: bool) -> Token:
    if word in {STOP, ASKED, BLANK}:
        return _token(word, "")
    if any(map(str.isdigit, word)):
        return _token("#", "id")
    if is_name:
        return _token("@", "self" if _is_introduced(found) else "name")
    return _token(stemmed, "")


def _is_introduced(found: list[Token]) -> bool:
    """Whether a name that follows is the speaker's: `I am Ann Lee`, `my name is Ann`."""
    if found and found[-1].sense == "self":
        return True
    last = [token.stem for token in found[-3:]]
    return last[-1:] == ["i"] or last[-2:] == ["i", "am"] or last == ["my", "name", "is"]


@lru_cache(maxsize=4096)
def _spelt(written: str) -> str:
    """The stem of a word, or of the known word that a long unknown one is a misspelling of."""
    word = stem(written)
    if not _SHORTEST <= len(word) <= _LONGEST or word in _known():
        return word
    misspelt = _misspelt()
    return next((misspelt[less] for less in _shorter(word) if less in misspelt), word)


def _shorter(word: str) -> Iterator[str]:
    """The word, and all that it becomes with one letter less."""
    yield word
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]


@cache
def _phrases() -> dict[tuple[str, ...], str]:
    found: dict[tuple[str, ...], str] = {}
    for sense, phrases in SENSES.items():
        for phrase in phrases.split(","):
            found.setdefault(tuple(map(stem, phrase.split())), sense)
    return found


@cache
def _first_words() -> frozenset[str]:
    return frozenset(phrase[0] for phrase in _phrases() if phrase)


@cache
def _known() -> frozenset[str]:
    return frozenset(word for phrase in _phrases() for word in phrase)


@cache
def _misspelt() -> dict[str, str]:
    found: dict[str, str] = {}
    for word in sorted(_known()):
        if _SHORTEST <= len(word) <= _LONGEST:
            for less in _shorter(word):
                found.setdefault(less, word)
    return found
