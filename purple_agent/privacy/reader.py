"""Reader: a small convolutional network that has learned how people ask for what must not be told.

`scripts/privacy_reader/train.py` trains it and writes its weights.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, reduce
from importlib.resources import files
from io import BytesIO
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from purple_agent.privacy.pieces import UNKNOWN, Pieces
from purple_agent.privacy.sentence import ASKED, STOP

WEIGHTS = "reader_weights.npz"
WINDOW = 160
"""How many pieces of words a text may have to be weighed at once; it has learned from such texts."""
APART = {1: 2.5, 3: 1.5}
"""How many sentences in a row are weighed by themselves within a text of more, and by how much less
they count than a text that says just that: the less is read, the surer it must be."""
_LONGEST_SENTENCE = 80
"""A sentence of more pieces is taken for several."""
_NEIGHBOURS = 3
_BLOCK = 4_000
"""How many pieces are read at once; it bounds the memory. The next block begins before this ends,
so that each passage lies within one."""
_FEW = 16
"""Products of so few rows are computed without threads, which cost more than they save here."""

Floats = NDArray[np.float32]


class _Sentences(NamedTuple):
    """What stands out of each sentence, by which passages are weighed.

    Args:
        highest: The highest value of each column; of shape (sentences, width).
        heeded: The values by the heed that they get, added up; of shape (sentences, width).
        heed: How much heed that is; of shape (sentences,).
    """

    highest: Floats
    heeded: NDArray[np.float64]
    heed: NDArray[np.float64]


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
        depth = sum(name.startswith("kernel_") for name in weights)
        self._layers = [
            (_floats(weights[f"kernel_{n}"]), _floats(weights[f"bias_{n}"])) for n in range(depth)
        ]
        first, bias = self._layers[0]
        units = np.tile(_floats(weights["units"]), _NEIGHBOURS)
        self._layers[0] = (first * units[:, None], bias)
        self._heed = _floats(weights["heed"])
        self._output = _floats(weights["output"])
        self._bias = float(weights["bias"])

    def score(self, words: Sequence[str]) -> float:
        """How much speaks for a request to disclose: the logarithm of the odds.

        Of a text of many sentences, the passage counts that says most, so that nothing hides
        behind harmless ones. Takes time linear in the number of words.
        """
        numbers = [self._pieces.of(word) for word in words]
        ends = zip(words, accumulate(map(len, numbers)), strict=True)
        stops = [end for word, end in ends if word in {STOP, ASKED}]
        pieces = [each for word in numbers for each in word] or [UNKNOWN]
        return max(self._score(*block) for block in _blocks(pieces, stops))

    def _score(self, pieces: Sequence[int], stops: Sequence[int]) -> float:
        rows = self._rows(pieces)
        sentences = _sentences(rows, rows @ self._heed, _starts(stops, len(rows)))
        count = len(sentences.heed)
        is_long = len(rows) > WINDOW
        passages = {n: less for n, less in APART.items() if n < count + is_long}
        if not is_long:
            passages[count] = 0.0
        return max(self._highest(sentences, n) - less for n, less in passages.items())

    def _highest(self, sentences: _Sentences, count: int) -> float:
        """The score of the passage of so many sentences that says most."""
        highest = _in_a_row(sentences.highest, count, np.maximum)
        heeded = _in_a_row(sentences.heeded, count, np.add)
        heed = _in_a_row(sentences.heed, count, np.add)
        seen = np.concatenate((highest, heeded / heed[:, None]), axis=1)
        return float((seen @ self._output).max()) + self._bias

    def _rows(self, pieces: Sequence[int]) -> Floats:
        """What the last layer makes of each piece; of shape (pieces, width)."""
        rows = _floats(self._vectors[list(pieces)])
        for depth, (kernel, bias) in enumerate(self._layers):
            found = _product(_neighbours(rows, reach=2**depth), kernel)
            found += bias
            np.maximum(found, 0, out=found)
            if depth:
                found += rows
            rows = found
        return rows


@cache
def trained() -> Reader:
    """The reader with the weights that come with the package."""
    # Read late: importing the package reads no file.
    data = files(__package__).joinpath(WEIGHTS).read_bytes()
    with np.load(BytesIO(data), allow_pickle=False) as weights:
        return Reader(dict(weights))


def _blocks(
    pieces: Sequence[int], stops: Sequence[int]
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Pieces and the ends of their sentences, block by block; most texts are one block."""
    longest_passage = max(APART) * _LONGEST_SENTENCE
    step = _BLOCK - longest_passage
    for start in range(0, max(1, len(pieces) - longest_passage), step):
        block = pieces[start : start + _BLOCK]
        inside = stops[bisect_right(stops, start) : bisect_left(stops, start + len(block))]
        yield block, [stop - start for stop in inside]


def _starts(stops: Sequence[int], length: int) -> list[int]:
    """Where sentences begin; long ones begin anew."""
    begins = sorted({0, *stops} - {length})
    return [
        place
        for begin, end in pairwise((*begins, length))
        for place in range(begin, end, _LONGEST_SENTENCE)
    ]


def _sentences(rows: Floats, heed: Floats, starts: Sequence[int]) -> _Sentences:
    shares = np.exp(heed.astype(np.float64) - heed.max())
    return _Sentences(
        highest=np.maximum.reduceat(rows, starts),
        heeded=np.add.reduceat(shares[:, None] * rows, starts),
        heed=np.add.reduceat(shares, starts),
    )


def _in_a_row(values: NDArray[Any], count: int, joined: np.ufunc) -> NDArray[Any]:
    """The values of each so many sentences in a row, joined."""
    last = len(values) - count
    if not last:
        return joined.reduce(values, axis=0, keepdims=True)  # type: ignore[no-any-return]
    return reduce(joined, (values[first : first + last + 1] for first in range(count)))


def _neighbours(rows: Floats, *, reach: int) -> Floats:
    """Each row beside those `reach` places before and behind it; zeros beyond the edges."""
    count, width = rows.shape
    found = np.zeros((count, _NEIGHBOURS, width), dtype=np.float32)
    found[reach:, 0] = rows[:-reach]
    found[:, 1] = rows
    found[:-reach, 2] = rows[reach:]
    return found.reshape(count, -1)


def _product(rows: Floats, kernel: Floats) -> Floats:
    if len(rows) <= _FEW:
        return rows @ kernel
    parts = [rows[at : at + _FEW] @ kernel for at in range(0, len(rows), _FEW)]
    return np.concatenate(parts)


def _floats(values: NDArray[Any]) -> Floats:
    return values.astype(np.float32)
