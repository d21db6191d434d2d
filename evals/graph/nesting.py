"""Nesting: how calls between agents lie within each other. Iterative, however deep they lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evals.graph.interactions import Call, Interactions
from evals.graph.once import once
from evals.graph.repeats import Asked, asked_by


@once
def top_down(team: Interactions) -> Sequence[int]:
    """The indices of all steps, each behind that of its parent."""
    if all(step.parent is None or step.parent < step.index for step in team.steps):
        return range(len(team.steps))
    # Where clocks differ, a child may begin before its parent.
    order = [step.index for step in team.steps if step.parent is None]
    for index in order:  # grows while it is walked through
        order.extend(team.children[index])
    return order


@dataclass(frozen=True, kw_only=True)
class Nesting:
    """Depth and circles of the calls between agents."""

    depth: int
    """Most calls on one line of parents."""
    circles: tuple[Call, ...]
    """Calls that ask an agent what a call above them asks it already, in order."""


@once
def nesting_of(team: Interactions) -> Nesting:
    """How the calls between agents lie within each other."""
    counted = [False] * len(team.steps)
    for call in team.agent_calls:
        counted[call.index] = True
    depths = [0] * len(team.steps)
    for index in top_down(team):
        parent = team.steps[index].parent
        depths[index] = (0 if parent is None else depths[parent]) + counted[index]
    return Nesting(depth=max(depths, default=0), circles=_circles(team))


def _circles(team: Interactions) -> tuple[Call, ...]:
    asked = asked_by(team)
    often = Counter(asked[call.index] for call in team.agent_calls)
    repeated = {call.index for call in team.agent_calls if often[asked[call.index]] > 1}
    at_risk = {index: what for index in repeated if (what := asked[index]) is not None}
    closing = sorted(_inside_their_like(team, at_risk)) if at_risk else []
    return tuple(team.steps[index] for index in closing)


def _inside_their_like(team: Interactions, asked: dict[int, Asked]) -> list[int]:
    """The steps among `asked` that lie below another one which asks the same."""
    found = []
    open_above: Counter[Asked] = Counter()
    todo = [step.index for step in team.steps if step.parent is None]
    while todo:
        index = todo.pop()
        if index < 0:  # everything below the step is done
            open_above[asked[~index]] -= 1
            continue
        what = asked.get(index)
        if what is not None:
            if open_above[what]:
                found.append(index)
            open_above[what] += 1
            todo.append(~index)
        todo.extend(team.children[index])
    return found
