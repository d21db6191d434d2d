"""Pieces: words cut into the longest pieces that a vocabulary knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

INSIDE = "##"
"""Stands before a piece that does not begin a word."""
UNKNOWN = 0
"""The number of the piece that stands for all that the vocabulary does not know."""
_LONGEST_WORD, _LONGEST_PIECE = 40, 18


class Pieces:
    """A vocabulary of pieces, each with its place as its number.

    Args:
        known: The pieces; the first stands for whatever is unknown.
    """

    def __init__(self, known: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(known)}
        self.of = lru_cache(maxsize=20_000)(self._of)
        """The numbers of a word's pieces, from left to right."""

    def _of(self, word: str) -> tuple[int, ...]:
        found = tuple(self._cut(word)) if len(word) <= _LONGEST_WORD else (UNKNOWN,)
        return (UNKNOWN,) if UNKNOWN in found else found

    def _cut(self, word: str) -> Iterator[int]:
        start = 0
        while start < len(word):
            ends = range(min(len(word), start + _LONGEST_PIECE), start, -1)
            begins = INSIDE if start else ""
            end = next((e for e in ends if begins + word[start:e] in self._numbers), None)
            if end is None:
                yield UNKNOWN
                return
            yield self._numbers[begins + word[start:end]]
            start = end
