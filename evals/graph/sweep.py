"""Breadth-first sweeps from every node at once: distances, and betweenness after Brandes.

All searches of a block go forward level by level together; a cell is one pair of a source (the
row) and a node. Brandes 2001, "A faster algorithm for betweenness centrality".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Distances = npt.NDArray[np.int16]

_BLOCK = 2_000_000
"""Cells and arcs that are looked at together: bounds the memory to some hundred megabytes."""


@dataclass(frozen=True, kw_only=True)
class Arcs:
    """The arcs of a graph with the nodes 0 to `size` - 1, ordered by their source."""

    size: int
    first: Ints
    """Where the arcs of each node begin; shape (size + 1,)."""
    targets: Ints
    """The node that each arc leads to."""

    @classmethod
    def of(cls, size: int, sources: Ints, targets: Ints) -> Arcs:
        """The arcs from `sources` to `targets`."""
        order = np.lexsort((targets, sources))
        first = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=size))])
        return cls(size=size, first=first, targets=targets[order])

    @property
    def work(self) -> int:
        """Cells and arcs that a sweep from every node looks at, at most."""
        return self.size * (self.size + len(self.targets))


def distances(arcs: Arcs) -> Distances:
    """Lengths of the shortest paths, [from, to]; -1 where there is none."""
    found = np.empty((arcs.size, arcs.size), dtype=np.int16)
    for start, stop in _blocks(arcs):
        _search(arcs, start, stop, found[start:stop].reshape(-1))
    return found


def betweenness(arcs: Arcs) -> Floats:
    """For each node, the sum over ordered pairs of others of the share of shortest paths by it.

    Not normalised. The shortest paths between two nodes must be fewer than 1e308.
    """
    total = np.zeros(arcs.size)
    for start, stop in _blocks(arcs):
        found = np.empty((stop - start) * arcs.size, dtype=np.int16)
        through = _dependencies(_search(arcs, start, stop, found), len(found))
        total += through.reshape(-1, arcs.size).sum(axis=0)
    return total


@dataclass(frozen=True, slots=True)
class _Level:
    """The cells at one distance, and the arcs from them that shortest paths go on by."""

    cells: Ints
    via: Ints
    """For each such arc, the index in `cells` of where it begins."""
    onto: Ints
    """For each such arc, the cell of the next level where it ends."""


def _blocks(arcs: Arcs) -> Iterator[tuple[int, int]]:
    """Sources to take together, from and to."""
    step = max(1, _BLOCK // (arcs.size + len(arcs.targets) + 1))
    for start in range(0, arcs.size, step):
        yield start, min(arcs.size, start + step)


def _search(arcs: Arcs, start: int, stop: int, distance: Distances) -> list[_Level]:
    """The levels of the searches from the sources `start` to `stop`; fills in `distance`."""
    sources = np.arange(start, stop)
    place = np.empty(len(distance), dtype=np.int64)
    cells = (sources - start) * arcs.size + sources
    distance.fill(-1)
    distance[cells] = 0
    levels: list[_Level] = []
    while cells.size:
        node = cells % arcs.size
        begin = arcs.first[node]
        count = arcs.first[node + 1] - begin
        via = np.repeat(np.arange(len(cells)), count)
        arc = np.arange(len(via)) + np.repeat(begin - (np.cumsum(count) - count), count)
        onto = (cells - node)[via] + arcs.targets[arc]
        new = distance[onto] < 0
        via, onto = via[new], onto[new]
        levels.append(_Level(cells, via, onto))
        # Each new cell once: the last arc that leads to it has left its number there.
        number = np.arange(len(onto))
        place[onto] = number
        cells = onto[place[onto] == number]
        distance[cells] = len(levels)
    return levels


def _dependencies(levels: list[_Level], cells: int) -> Floats:
    """What each source contributes to the betweenness of each node."""
    paths = _path_counts(levels, cells)
    through = np.zeros(cells)
    for level in reversed(levels):
        share = (1 + through[level.onto]) / paths[level.onto]
        sums = np.bincount(level.via, weights=share, minlength=len(level.cells))
        through[level.cells] = paths[level.cells] * sums
    through[levels[0].cells] = 0
    return through


def _path_counts(levels: list[_Level], cells: int) -> Floats:
    """How many shortest paths lead from its source to each cell."""
    paths = np.zeros(cells)
    place = np.zeros(cells, dtype=np.int64)
    paths[levels[0].cells] = 1
    for level, following in pairwise(levels):
        place[following.cells] = np.arange(len(following.cells))
        weights = paths[level.cells][level.via]
        counts = np.bincount(place[level.onto], weights, minlength=len(following.cells))
        paths[following.cells] = counts
    return paths
