"""Reader: a small convolutional network that has learned how people ask for what must not be told.

`scripts/privacy_reader/train.py` trains it and writes its weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from io import BytesIO
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from purple_agent.privacy.pieces import UNKNOWN, Pieces
from purple_agent.privacy.sentence import ASKED, STOP

WEIGHTS = "reader_weights.npz"
WINDOW = 160
"""How many pieces of words are weighed at once, at most; it has learned from texts of that length."""
APART = {1: 2.5, 3: 1.5}
"""How many sentences in a row are weighed by themselves within a text of more, and by how much less
they count than a text that says just that: the less is read, the surer it must be."""
_NEIGHBOURS = 3
_BLOCK = 4_000
"""How many pieces go through the layers at once; it bounds the memory."""
_FEW = 16
"""Products of so few rows are computed without threads, which cost more than they save here."""

Floats = NDArray[np.float32]


class Reader:
    """The network: vectors of pieces, convolutions over neighbours, and what stands out of them.

    Args:
        weights: By name: `pieces` (the vocabulary, lines of UTF-8), `vectors` (pieces x width,
            whole numbers in `units`, one a column), `kernel_N` (3 * width before x width) and
            `bias_N` (width) of layer N, `heed` (width), `output` (2 * width) and `bias` (one).

    Raises:
        KeyError: If one of them is missing.
    """

    def __init__(self, weights: Mapping[str, NDArray[Any]]) -> None:
        self._pieces = Pieces(weights["pieces"].tobytes().decode().split("\n"))
        self._vectors = weights["vectors"]
        self._units = _floats(weights["units"])
        depth = sum(name.startswith("kernel_") for name in weights)
        self._layers = [
            (_floats(weights[f"kernel_{n}"]), _floats(weights[f"bias_{n}"])) for n in range(depth)
        ]
        self._reach = 2**depth - 1
        self._heed = _floats(weights["heed"])
        self._output = _floats(weights["output"])
        self._bias = float(weights["bias"])

    def score(self, words: Sequence[str]) -> float:
        """How much speaks for a request to disclose: the logarithm of the odds.

        Of a text of many sentences, the passage counts that says most, so that nothing hides
        behind harmless ones. Takes time linear in the number of words.
        """
        numbers = [self._pieces.of(word) for word in words]
        ends = list(accumulate(map(len, numbers)))
        rows = self._rows([each for pieces in numbers for each in pieces] or [UNKNOWN])
        whole = self._weighed(rows) if len(rows) <= WINDOW else -np.inf
        stops = [end for end, word in zip(ends, words, strict=True) if word in {STOP, ASKED}]
        parts = (
            self._weighed(rows[start:end]) - less
            for sentences, less in APART.items()
            for start, end in _passages(sorted({0, *stops, len(rows)}), sentences)
        )
        return max((whole, *parts))

    def _rows(self, numbers: Sequence[int]) -> Floats:
        """What the last layer makes of each piece; of shape (pieces, width)."""
        blocks = []
        for start in range(0, len(numbers), _BLOCK):
            first = max(0, start - self._reach)
            seen = self._through(numbers[first : start + _BLOCK + self._reach])
            blocks.append(seen[start - first : start - first + _BLOCK])
        return np.concatenate(blocks)

    def _through(self, numbers: Sequence[int]) -> Floats:
        rows: Floats = _floats(self._vectors[list(numbers)]) * self._units
        for depth, (kernel, bias) in enumerate(self._layers):
            found = np.maximum(_product(_neighbours(rows, reach=2**depth), kernel) + bias, 0)
            rows = rows + found if depth else found
        return rows

    def _weighed(self, rows: Floats) -> float:
        heed = rows @ self._heed
        shares = np.exp(heed - heed.max())
        seen = np.concatenate((rows.max(axis=0), shares @ rows / shares.sum()))
        return float(seen @ self._output) + self._bias


@cache
def trained() -> Reader:
    """The reader with the weights that come with the package."""
    # Read late: importing the package reads no file.
    data = files(__package__).joinpath(WEIGHTS).read_bytes()
    with np.load(BytesIO(data), allow_pickle=False) as weights:
        return Reader(dict(weights))


def _passages(ends: Sequence[int], sentences: int) -> Iterator[tuple[int, int]]:
    """Where passages of so many sentences begin and end, or windows of those that are too long.

    None where the text has no more sentences than that, and is short.

    Args:
        ends: 0, and where each sentence ends.
        sentences: At least 1.
    """
    if len(ends) - 1 <= sentences and ends[-1] <= WINDOW:
        return
    for at in range(max(1, len(ends) - sentences)):
        start, end = ends[at], ends[min(at + sentences, len(ends) - 1)]
        last = max(start, end - WINDOW)
        starts = {*range(start, last, WINDOW // 2), last}
        yield from ((each, min(each + WINDOW, end)) for each in sorted(starts))


def _neighbours(rows: Floats, *, reach: int) -> Floats:
    """Each row beside those `reach` places before and behind it; zeros beyond the edges."""
    edge = np.zeros((reach, rows.shape[1]), dtype=np.float32)
    padded = np.concatenate((edge, rows, edge))
    sides = [padded[reach * step : reach * step + len(rows)] for step in range(_NEIGHBOURS)]
    return np.concatenate(sides, axis=1)


def _product(rows: Floats, kernel: Floats) -> Floats:
    parts = [rows[at : at + _FEW] @ kernel for at in range(0, len(rows), _FEW)]
    return np.concatenate(parts)


def _floats(values: NDArray[Any]) -> Floats:
    return values.astype(np.float32)
