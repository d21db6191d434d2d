"""Shortest paths of small graphs, by multiplying their matrices; of a hundred graphs in one call.

The time grows with the fourth power of the nodes in the worst case, a chain: up to 50 nodes this is
faster than networkx (docs/decisions/0008-matrices-beside-networkx.md).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Distances = npt.NDArray[np.int16]
Flags = npt.NDArray[np.bool_]


def distances(present: Flags) -> Distances:
    """Return the lengths of the shortest paths, [graph, from, to]; -1 where there is none.

    Args:
        present: Whether there is an edge, [graph, from, to].
    """
    step = present.astype(np.float32)
    found = np.full(present.shape, -1, dtype=np.int16)
    new = _identities(present)
    length = 0
    while new.any():
        found[new] = length
        new = (new.astype(np.float32) @ step) > 0
        new &= found < 0
        length += 1
    return found


def betweenness(present: Flags) -> Floats:
    """Sum, for each node, the share of shortest paths through it over all ordered pairs of others.

    Args:
        present: Whether there is an edge, [graph, from, to]; symmetric, and with some 50 nodes at
            most, so that the number of shortest paths stays far below what a float can hold.

    Returns:
        [graph, node], not normalised.
    """
    near = present.astype(np.float64)
    paths, levels = _path_counts(near, _identities(present))
    inverse = 1 / np.maximum(paths, 1)
    # The accumulation of Brandes 2001: what each node passes on, for each shortest path to it.
    share = np.zeros(present.shape)
    for level, nearer in zip(levels[::-1], levels[-2::-1], strict=False):
        front = share + inverse
        front *= level
        front = front @ near
        front *= nearer
        share += front
    return np.asarray((share * paths).sum(axis=1))


def _path_counts(near: Floats, sources: Flags) -> tuple[Floats, list[Flags]]:
    """Count the shortest paths, and tell which pairs are 1, 2, 3 ... edges apart."""
    paths = sources.astype(np.float64)
    unseen = ~sources
    front = paths
    levels: list[Flags] = []
    while True:
        front = front @ near
        front *= unseen
        new = front > 0
        if not new.any():
            return paths, levels
        paths = paths + front
        unseen ^= new
        levels.append(new)


def _identities(present: Flags) -> Flags:
    return np.broadcast_to(np.eye(present.shape[1], dtype=bool), present.shape).copy()
