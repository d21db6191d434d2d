"""Sentence: a normalized text as words, with the data that its nouns name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from purple_agent.privacy import lexicon
from purple_agent.privacy.lexicon import Datum

STOP = "."
PAUSE = ","
BLANK = "___"
OWNER = "'s"
ASKED = "?"

_LONGEST_PHRASE = max(len(phrase) for phrase in lexicon.NOUNS)
_LONGEST_WORD = max(len(word) for word in lexicon.VOCABULARY)
_SPELT = re.compile(r"(?<!')\b(?:[a-z0-9@$][ .*-]){2,}[a-z0-9@$]\b", re.IGNORECASE)
# Each alternative is a single run or sign, and none looks further ahead than one sign.
_TOKENS = re.compile(
    r"(?P<blank>\.\.\.|_{2,}|<)|(?P<word>[A-Za-z0-9@$]+)|(?P<owner>'s\b|(?<=s)'(?=\s))"
    r"|(?P<short>'(?:d|ll|m|ve|re)\b)|(?P<no>'t\b)|(?P<stop>[.!;](?=\s|$)|\n(?=\n))"
    r"|(?P<asked>\?)|(?P<pause>[,:()=-])",
    re.IGNORECASE,
)
_LEET = tuple(str.maketrans("0134578@$", f"o{one}eastbas") for one in "il")
_DENIED = frozenset({"dont", "cant", "wont"})
_ABBREVIATED = frozenset({"mr", "mrs", "ms", "dr", "prof", "st", "no", "acct"})
_CONTRACTED = frozenset({"what", "who", "that", "it", "where", "how", "there", "here", "let"})


@dataclass(frozen=True, kw_only=True)
class Noun:
    """A datum named by the words from `start` up to, but not including, `end`."""

    start: int
    end: int
    datum: Datum


@dataclass(frozen=True, kw_only=True)
class Words:
    """The words of a text in lower case, and signs for stops, pauses, blanks and possessives.

    `names` has the indexes of words that look like a person's name.
    """

    words: tuple[str, ...]
    names: frozenset[int]

    def nouns(self) -> Iterator[Noun]:
        """Yield the named data, each by its longest phrase, from left to right."""
        place = 0
        while place < len(self.words):
            noun = self._noun(place)
            if noun:
                yield noun
            place = noun.end if noun else place + 1

    def _noun(self, start: int) -> Noun | None:
        if self.words[start] not in _FIRST_WORDS:
            return None
        for length in range(_LONGEST_PHRASE, 0, -1):
            datum = lexicon.NOUNS.get(self.words[start : start + length])
            if datum:
                return Noun(start=start, end=min(start + length, len(self.words)), datum=datum)
        return None


_FIRST_WORDS = frozenset(phrase[0] for phrase in lexicon.NOUNS)


def read(text: str) -> Words:
    """Read the words of a normalized text; known words that are spelt out are joined."""
    words: list[str] = []
    names: set[int] = set()
    for match in _TOKENS.finditer(_SPELT.sub(_joined, text)):
        token = match.group()
        if match.lastgroup == "word":
            if _is_name(token, words):
                names.add(len(words))
            words.append(_known(token.lower()))
        else:
            words.extend(_sign(match.lastgroup, words))
    return Words(words=tuple(words), names=frozenset(names))


def _sign(kind: str | None, words: list[str]) -> tuple[str, ...]:
    if kind == "stop" and words and words[-1] in _ABBREVIATED:
        return ()
    if kind == "no":
        return ("not",)
    if kind == "owner":
        return ("is",) if words and words[-1] in _CONTRACTED else (OWNER,)
    signs = {"blank": BLANK, "stop": STOP, "asked": ASKED, "pause": PAUSE}
    return (signs[kind],) if kind in signs else ()


def _is_name(token: str, words: list[str]) -> bool:
    begins = not words or words[-1] in {STOP, ASKED}
    return token.istitle() and token.lower() not in lexicon.VOCABULARY and not begins


def _joined(match: re.Match[str]) -> str:
    """Return the known words in the letters of a spelt-out text; others are dropped."""
    letters = re.sub(r"[ .*-]", "", match.group()).lower()
    known = _known(letters)
    return f" {known} " if known in lexicon.VOCABULARY else f" {' '.join(_segments(letters))} "


def _segments(letters: str) -> Iterator[str]:
    place = 0
    while place < len(letters):
        lengths = range(min(_LONGEST_WORD, len(letters) - place), 1, -1)
        found = (letters[place : place + length] for length in lengths)
        word = next((word for word in found if word in lexicon.VOCABULARY), "")
        if word:
            yield word
        place += len(word) or 1


def _known(word: str) -> str:
    """Return the word of the lexicon that a text with digits and signs stands for, if any."""
    if word.isalpha() or word.isdigit():
        return "not" if word in _DENIED else word
    candidates = (word.translate(table) for table in _LEET)
    return next((each for each in candidates if each in lexicon.VOCABULARY), word)
