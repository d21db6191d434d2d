"""Communities: groups that call each other more than chance, and how strongly (modularity).

The Louvain method of Blondel et al. 2008 for the directed modularity of Leicht and Newman 2008:
Q = sum over edges inside groups of w / m, less sum over groups of out * in / m^2. Agents are
visited in the order of their numbers, and gains are compared as whole numbers, so the groups
depend on no seed and on no rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

_MAX_PASSES = 50
"""Passes over the agents, at each level; a handful is usual."""

Weights = Mapping[tuple[int, int], int]


def communities(size: int, weights: Weights) -> list[int]:
    """Return the group of each node 0 to `size` - 1. Groups are numbered by their first node."""
    group = list(range(size))
    while True:
        moved = _one_level(max(group, default=-1) + 1, weights)
        numbers = _renumbered(moved)
        if len(set(numbers)) == len(numbers):
            return group
        group = [numbers[at] for at in group]
        weights = _merged(numbers, weights)


def modularity(group: Sequence[int], weights: Weights) -> float:
    """Return the directed modularity of the grouping, below 1; 0 for a single group.

    Args:
        group: The group of each node.
        weights: Of each edge; at least one edge.
    """
    total = sum(weights.values())
    inside = sum(weight for (a, b), weight in weights.items() if group[a] == group[b])
    out, into = _strengths(max(group) + 1, _merged(group, weights))
    by_chance = sum(a * b for a, b in zip(out, into, strict=True))
    return (inside * total - by_chance) / total**2


def _one_level(size: int, weights: Weights) -> list[int]:
    """Move single nodes for as long as modularity rises, and return the group of each."""
    total = sum(weights.values())
    out, into = _strengths(size, weights)
    near = _near(size, weights)
    group = list(range(size))
    group_out, group_in = list(out), list(into)
    for _ in range(_MAX_PASSES):
        moves = 0
        for node in range(size):
            old = group[node]
            group_out[old] -= out[node]
            group_in[old] -= into[node]
            ties = {old: 0}
            for other, weight in near[node].items():
                ties[group[other]] = ties.get(group[other], 0) + weight
            best, best_gain = old, None
            for candidate, tie in ties.items():  # the old group comes first and wins if equal
                chance = out[node] * group_in[candidate] + into[node] * group_out[candidate]
                gain = tie * total - chance
                if best_gain is None or gain > best_gain:
                    best, best_gain = candidate, gain
            group[node] = best
            group_out[best] += out[node]
            group_in[best] += into[node]
            moves += best != old
        if not moves:
            break
    return group


def _near(size: int, weights: Weights) -> list[dict[int, int]]:
    """Return for each node the others it has edges with, and their weight both ways."""
    near: list[dict[int, int]] = [{} for _ in range(size)]
    for (a, b), weight in weights.items():
        if a != b:
            near[a][b] = near[a].get(b, 0) + weight
            near[b][a] = near[b].get(a, 0) + weight
    return near


def _strengths(size: int, weights: Weights) -> tuple[list[int], list[int]]:
    """Return for each node the weight of the edges out of it and into it."""
    out, into = [0] * size, [0] * size
    for (a, b), weight in weights.items():
        out[a] += weight
        into[b] += weight
    return out, into


def _merged(group: Sequence[int], weights: Weights) -> dict[tuple[int, int], int]:
    """Return the edges between groups, and within them as loops."""
    merged: dict[tuple[int, int], int] = {}
    for (a, b), weight in weights.items():
        pair = group[a], group[b]
        merged[pair] = merged.get(pair, 0) + weight
    return merged


def _renumbered(group: Iterable[int]) -> list[int]:
    numbers: dict[int, int] = {}
    return [numbers.setdefault(at, len(numbers)) for at in group]
