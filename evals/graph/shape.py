"""Shape: groups, isolated and outstanding members, trees, and links that hold two groups together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

from evals.graph.interactions import Interactions
from evals.graph.memoize import memoize
from evals.graph.view import GraphView

_FURTHER_NEIGHBOURS = 2


@memoize
def isolated_members(team: Interactions) -> tuple[str, ...]:
    """List the members that neither call another nor are called by one, in alphabetical order.

    A team of one has none.
    """
    if len(team.members) < 2:
        return ()
    view = GraphView.of(team)
    return tuple(
        sorted(name for name, beside in zip(view.names, view.neighbours, strict=True) if not beside)
    )


@memoize
def groups_of(team: Interactions) -> tuple[tuple[str, ...], ...]:
    """List the groups of members that calls connect, whatever their direction, the largest first.

    Of equal size, the group that called first comes first; within a group, names are in
    alphabetical order. A member without calls to or from another is in no group.
    """
    view = GraphView.of(team)
    return tuple(
        tuple(sorted(view.names[member] for member in component))
        for component in view.components
        if len(component) > 1
    )


def one_stands_out(team: Interactions) -> bool:
    """Check whether one member alone has the most neighbours."""
    degrees = sorted(map(len, GraphView.of(team).neighbours), reverse=True)
    return len(degrees) == 1 or (len(degrees) > 1 and degrees[0] > degrees[1])


@dataclass(frozen=True, kw_only=True)
class OutTree:
    """A team in which work is only handed down, to each member by one other."""

    depth: int
    """Calls from the root to the furthest member."""
    most_callees: int
    """Most callees of one member."""


@memoize
def out_tree(team: Interactions) -> OutTree | None:
    """Return the tree that the members with calls form; None if they form none.

    They do if one of them is not called, every other one is called by exactly one, and all are
    reached from the first.
    """
    view = GraphView.of(team)
    called = {callee for _, callee in view.edges}
    roots = {caller for caller, _ in view.edges} - called
    if len(roots) != 1 or len(called) != len(view.edges):
        return None
    depth, reached, row = 0, 0, list(roots)
    while row := [callee for member in row for callee in view.callees_of[member]]:
        depth += 1
        reached += len(row)
    if reached != len(called):  # the others run in a circle of their own
        return None
    return OutTree(depth=depth, most_callees=max(map(len, view.callees_of)))


@memoize
def bridges_of(team: Interactions) -> tuple[tuple[str, str], ...]:
    """List the links that hold two groups together, each as its two ends in alphabetical order.

    Each end has two neighbours or more besides the other end, so each group three members or more.
    """
    view = GraphView.of(team)
    near = [set(others) for others in view.neighbours]
    linked = [
        (one, other)
        for one, other in view.edges
        if min(len(near[one]), len(near[other])) > _FURTHER_NEIGHBOURS
        and near[one].isdisjoint(near[other])  # nothing in a triangle is a bridge
    ]
    if not linked:
        return ()
    import networkx as nx

    bridges = cast("Iterable[tuple[int, int]]", nx.bridges(view.undirected))  # typed as nodes
    found = {frozenset(pair) for pair in linked} & {frozenset(pair) for pair in bridges}
    named = (sorted(view.names[member] for member in pair) for pair in found)
    return tuple((one, other) for one, other in sorted(named))
