"""Nesting: calls between agents within calls. Iterative, however deep they lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import lt

from evals.graph.interactions import Call, Interactions
from evals.graph.memoize import memoize
from evals.graph.repeats import Asked, asked_by

NOBODY = -1
"""The index above the steps without a parent."""


@memoize
def parents_of(team: Interactions) -> Sequence[int]:
    """Return the index of each step's parent, or `NOBODY`."""
    return [NOBODY if step.parent is None else step.parent for step in team.steps]


@memoize
def top_down(team: Interactions) -> Sequence[int]:
    """Return the indices of all steps, each behind that of its parent."""
    if all(map(lt, parents_of(team), range(len(team.steps)))):
        return range(len(team.steps))
    # Where clocks differ, a child may begin before its parent.
    order = [step.index for step in team.steps if step.parent is None]
    for index in order:  # grows while it is walked through
        order.extend(team.children[index])
    return order


@memoize
def callers_steps_of(team: Interactions) -> Sequence[int | None]:
    """Find for each step the one in whose course its caller made it; None if not visible.

    That is the closest step above which the caller answers. Between the two there may be steps that
    the same caller made, such as that of a tool which passes the call on. The user may know the team
    by another name, an address for example: then callers whom no member calls answer the user.
    """
    members = set(team.members)
    called = {call.callee for call in team.calls}
    found: list[int | None] = [None] * len(team.steps)
    for index in top_down(team):
        step = team.steps[index]
        if step.parent is None:
            continue
        above = team.steps[step.parent]
        by_another_name = above.from_outside and above.callee not in members
        if above.callee == step.caller or (by_another_name and step.caller not in called):
            found[index] = above.index
        elif above.caller == step.caller:
            found[index] = found[above.index]
    return found


@dataclass(frozen=True, kw_only=True)
class Nesting:
    """Depth and cycles of the calls between agents."""

    depth: int
    """Most calls on one line of parents."""
    cycles: tuple[Call, ...]
    """Calls that ask an agent what a call above them asks it already, in order."""


@memoize
def nesting_of(team: Interactions) -> Nesting:
    """Compute how the calls between agents lie within each other."""
    parents = parents_of(team)
    counted = [0] * len(parents)
    for call in team.agent_calls:
        counted[call.index] = 1
    depths = [0] * (len(parents) + 1)  # the last one is that of NOBODY
    for index in top_down(team):
        depths[index] = depths[parents[index]] + counted[index]
    return Nesting(depth=max(depths), cycles=_cycles(team))


def _cycles(team: Interactions) -> tuple[Call, ...]:
    """Find the calls that lie below another one which asks the same."""
    asked = asked_by(team)
    first, behind = spans_of(team)
    found = []
    until: dict[Asked, int] = {}  # the first number behind the last outer call that asks this
    for call in sorted(team.agent_calls, key=lambda call: first[call.index]):
        what = asked[call.index]
        if what is None:
            continue
        if first[call.index] < until.get(what, 0):
            found.append(call)
        else:
            until[what] = behind[call.index]
    return tuple(sorted(found))  # by index


@memoize
def spans_of(team: Interactions) -> tuple[Sequence[int], Sequence[int]]:
    """Return each step's number, counted depth first, and the first behind the steps below."""
    parents, order = parents_of(team), top_down(team)
    sizes = [1] * (len(parents) + 1)  # the last one is that of NOBODY, as in `free`
    for index in reversed(order):
        sizes[parents[index]] += sizes[index]
    first = [0] * len(parents)
    free = [0] * (len(parents) + 1)
    for index in order:
        parent = parents[index]
        number = first[index] = free[parent]
        free[parent] += sizes[index]
        free[index] = number + 1
    return first, free[:-1]
