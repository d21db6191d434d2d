"""Bm25: ranks documents by Okapi BM25, with the numbers of the package rank-bm25.

That is what the official engine uses: k1 1.5, b 0.75, words split at white space, and a floor for
the weight of words that stand in more than half of the documents. Sums are taken in its order, so
that scores are equal to the last bit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

_K1: Final = 1.5
_B: Final = 0.75
_EPSILON: Final = 0.25
"""The floor, as a share of the mean weight of all words."""


class Bm25:
    """An index over texts, which are known by their places."""

    def __init__(self, texts: Sequence[str]) -> None:
        words = [_words(text) for text in texts]
        self._lengths = [len(each) for each in words]
        self._mean_length = sum(self._lengths) / max(len(words), 1)
        self._places: dict[str, dict[int, int]] = {}
        for place, each in enumerate(words):
            for word, count in Counter(each).items():
                self._places.setdefault(word, {})[place] = count
        self._weights = self._weigh(len(words))

    def _weigh(self, documents: int) -> dict[str, float]:
        weights: dict[str, float] = {}
        for word, places in self._places.items():
            found = len(places)
            weights[word] = math.log(documents - found + 0.5) - math.log(found + 0.5)
        floor = _EPSILON * (sum(weights.values()) / max(len(weights), 1))
        return {word: weight if weight >= 0 else floor for word, weight in weights.items()}

    def top(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Return the places and scores of the best texts; of equal ones the earlier first.

        Texts without any of the words score 0, and fill up the list.
        """
        scores = [0.0] * len(self._lengths)
        for word in _words(query):
            weight = self._weights.get(word, 0.0)
            for place, count in self._places.get(word, {}).items():
                share = 1 - _B + _B * self._lengths[place] / self._mean_length
                scores[place] += weight * (count * (_K1 + 1) / (count + _K1 * share))
        best = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)[:limit]
        return [(place, scores[place]) for place in best]


def _words(text: str) -> list[str]:
    return text.lower().split()
