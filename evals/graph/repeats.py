"""Repeats: calls that ask what was asked before.

Two calls ask the same if their kinds, callees and arguments (as text) are equal. A call whose
arguments are unknown equals no other. Steps that were opened from outside are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from evals.graph.interactions import Call, Interactions
from evals.graph.once import once
from evals.trace import CallType

Asked = int
"""What a call asks of whom, as a number: equal for two steps of a trace where `Call.key` is."""


@once
def inner_steps(team: Interactions) -> tuple[Call, ...]:
    """The calls that agents made, to agents and to tools, in order."""
    return tuple(step for step in team.steps if not step.from_outside)


@once
def asked_by(team: Interactions) -> Sequence[Asked | None]:
    """For each step what it asks of whom; None where that is unknown."""
    agent, tool = CallType.AGENT, CallType.TOOL
    numbers: dict[tuple[str, str, bool, bool], int] = defaultdict(count().__next__)
    # Without the kind itself, for to hash an enum takes as long as all the rest.
    return [
        None
        if step.arguments is None
        else numbers[step.callee, step.arguments, step.kind is agent, step.kind is tool]
        for step in team.steps
    ]


@dataclass(frozen=True, kw_only=True)
class Repeats:
    """Calls of agents and tools that ask what an earlier call asked, by anyone, in order.

    What the latest of the earlier calls came to decides: where it failed the call is one of
    `retries`, otherwise one of `duplicates`.
    """

    duplicates: tuple[Call, ...]
    retries: tuple[Call, ...]
    known: int
    """Calls whose arguments are known."""
    unknown: int


@once
def repeats_of(team: Interactions) -> Repeats:
    """The repeats among a team's calls."""
    asked = asked_by(team)
    latest: dict[Asked, Call] = {}
    duplicates: list[Call] = []
    retries: list[Call] = []
    known = 0
    for call in inner_steps(team):
        what = asked[call.index]
        if what is None:
            continue
        known += 1
        earlier = latest.get(what)
        if earlier is not None:
            (retries if earlier.failed else duplicates).append(call)
        latest[what] = call
    return Repeats(
        duplicates=tuple(duplicates),
        retries=tuple(retries),
        known=known,
        unknown=len(inner_steps(team)) - known,
    )
