"""Shape: groups, who stands alone, who stands out, trees, and links that hold two groups together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.graph.interactions import Interactions
from evals.graph.once import once
from evals.graph.view import GraphView

_GROUP = 3
_FURTHER_NEIGHBOURS = 2


@once
def isolated_members(team: Interactions) -> tuple[str, ...]:
    """The members that neither call another nor are called by one, in alphabetical order.

    A team of one has none.
    """
    if len(team.members) < 2:
        return ()
    view = GraphView.of(team)
    return tuple(
        sorted(name for name, beside in zip(view.names, view.neighbours, strict=True) if not beside)
    )


@once
def groups_of(team: Interactions) -> tuple[tuple[str, ...], ...]:
    """The groups of members that calls connect, whatever their direction: the largest first.

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
    """Whether one member alone has the most neighbours."""
    degrees = sorted(map(len, GraphView.of(team).neighbours), reverse=True)
    return len(degrees) == 1 or (len(degrees) > 1 and degrees[0] > degrees[1])


@dataclass(frozen=True, kw_only=True)
class OutTree:
    """A team in which work is only handed down, to each member by one other."""

    depth: int
    """Calls from the root to the furthest member."""
    most_callees: int
    """Of one member."""


@once
def out_tree(team: Interactions) -> OutTree | None:
    """The tree that the members with calls form; None if they form none.

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


@once
def bridges_of(team: Interactions) -> tuple[tuple[str, str], ...]:
    """The links that hold two groups together, each as its two ends in alphabetical order.

    A group has three members or more, and each end two neighbours or more besides the other end.
    """
    view = GraphView.of(team)
    found = []
    for component in view.components:
        for one, other, beyond in _cut_edges(component[0], view.neighbours):
            smaller = min(beyond, len(component) - beyond)
            further = min(len(view.neighbours[one]), len(view.neighbours[other])) - 1
            if smaller >= _GROUP and further >= _FURTHER_NEIGHBOURS:
                found.append(sorted((view.names[one], view.names[other])))
    return tuple((one, other) for one, other in sorted(found))


@dataclass(kw_only=True)
class _Visit:
    """A member on the way down from where the search began."""

    member: int
    came_from: _Visit | None
    left: Iterator[int]
    entered: int
    earliest: int
    """The earliest member, by entry, to which this one or one below has another link."""
    below: int = 1
    """Members at and below this one."""


def _cut_edges(start: int, neighbours: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """The edges whose loss splits the component of `start`: two ends, members beyond the second.

    After Tarjan, "A note on finding the bridges of a graph" (1974), without recursion.
    """
    cuts: list[tuple[int, int, int]] = []
    entered: dict[int, int] = {}
    here: _Visit | None = _enter(start, None, neighbours, entered)
    while here is not None:
        upper = here.came_from
        following = next(here.left, None)
        if following is None:
            if upper is not None:
                _leave(here, upper, cuts)
            here = upper
        elif following not in entered:
            here = _enter(following, here, neighbours, entered)
        elif upper is None or following != upper.member:
            here.earliest = min(here.earliest, entered[following])
    return cuts


def _enter(
    member: int,
    came_from: _Visit | None,
    neighbours: Sequence[Sequence[int]],
    entered: dict[int, int],
) -> _Visit:
    number = entered[member] = len(entered)
    left = iter(neighbours[member])
    return _Visit(member=member, came_from=came_from, left=left, entered=number, earliest=number)


def _leave(here: _Visit, upper: _Visit, cuts: list[tuple[int, int, int]]) -> None:
    upper.below += here.below
    upper.earliest = min(upper.earliest, here.earliest)
    if here.earliest > upper.entered:
        cuts.append((upper.member, here.member, here.below))
