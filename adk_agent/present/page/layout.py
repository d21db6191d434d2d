"""place: where the agents of a team stand in the picture; the same for the same calls."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence

STEP = 118.0
"""Between two agents of one layer, and between two layers."""
MOST_IN_LAYER = 9
Edge = tuple[str, str]
Point = tuple[float, float]


def place(nodes: Sequence[str], edges: Collection[Edge], root: str | None) -> dict[str, Point]:
    """Coordinates by agent: in layers below the root where the calls go down only, else in a ring.

    Args:
        nodes: All agents, in the order that decides between equals.
        edges: Caller and callee; calls of an agent to itself do not matter.
        root: Who called first; it stands above all others.
    """
    between = sorted({(a, b) for a, b in edges if a != b})
    return _layered(nodes, between, root) or _ring(nodes, between, root)


def _layered(nodes: Sequence[str], edges: Sequence[Edge], root: str | None) -> dict[str, Point]:
    """Return the layers by distance from the root; none where a call goes up, across or too far."""
    depth = _depths(nodes, edges, root)
    if any(depth[callee] != depth[caller] + 1 for caller, callee in edges):
        return {}
    callers: dict[str, list[str]] = defaultdict(list)
    for caller, callee in edges:
        callers[callee].append(caller)
    layers: dict[int, list[str]] = defaultdict(list)
    for node in nodes:
        layers[depth[node]].append(node)
    if max(map(len, layers.values())) > MOST_IN_LAYER:
        return {}
    placed: dict[str, Point] = {}
    widest = max(map(len, layers.values()))
    for level in sorted(layers):
        layer = sorted(layers[level], key=lambda node: _mean_x(callers[node], placed))
        begin = (widest - len(layer)) / 2
        for number, node in enumerate(layer):
            placed[node] = ((begin + number) * STEP, level * STEP)
    return placed


def _mean_x(callers: Sequence[str], placed: dict[str, Point]) -> float:
    xs = [placed[caller][0] for caller in callers if caller in placed]
    return sum(xs) / len(xs) if xs else math.inf


def _depths(nodes: Sequence[str], edges: Sequence[Edge], root: str | None) -> dict[str, int]:
    """Distance from the root; whom nobody reaches begins a layer below all others."""
    callees: dict[str, list[str]] = defaultdict(list)
    called = set()
    for caller, callee in edges:
        callees[caller].append(callee)
        called.add(callee)
    starts = [root] if root is not None else [node for node in nodes if node not in called]
    depth = dict.fromkeys(starts, 0)
    front = list(depth)
    while front:
        reached = [b for a in front for b in callees[a] if b not in depth]
        depth.update((b, depth[a] + 1) for a in front for b in callees[a] if b not in depth)
        front = list(dict.fromkeys(reached))
    below = max(depth.values(), default=-1) + 1
    return {node: depth.get(node, below) for node in nodes}


def _ring(nodes: Sequence[str], edges: Sequence[Edge], root: str | None) -> dict[str, Point]:
    """All in a ring, the root above it and whom it calls at the top."""
    entries = [callee for caller, callee in edges if caller == root]
    others = [node for node in nodes if node != root]
    ring = [*dict.fromkeys(entries), *(node for node in others if node not in entries)]
    radius = max(STEP, len(ring) * STEP / (2 * math.pi))
    placed = {
        node: (
            radius + radius * math.sin(2 * math.pi * number / len(ring)),
            radius - radius * math.cos(2 * math.pi * number / len(ring)),
        )
        for number, node in enumerate(ring)
    }
    if root is None:
        return placed
    lowered = {node: (x, y + STEP) for node, (x, y) in placed.items()}
    return {root: (radius, 0.0), **lowered}
