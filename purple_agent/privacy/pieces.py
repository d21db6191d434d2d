"""Pieces: words cut into the longest pieces that a vocabulary knows."""

from __future__ import annotations

from collections.abc import Sequence

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
        self._number_of = {piece: number for number, piece in enumerate(known)}

    def of(self, word: str) -> tuple[int, ...]:
        """The numbers of a word's pieces, from left to right; nothing of it is remembered."""
        whole = self._number_of.get(word)
        if whole is not None:
            return (whole,)
        return self._cut(word) if len(word) <= _LONGEST_WORD else (UNKNOWN,)

    def _cut(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start = 0
        while start < len(word):
            ends = range(min(len(word), start + _LONGEST_PIECE), start, -1)
            begins = INSIDE if start else ""
            end = next((e for e in ends if begins + word[start:e] in self._number_of), None)
            if end is None:
                return (UNKNOWN,)
            found.append(self._number_of[begins + word[start:end]])
            start = end
        return tuple(found)
