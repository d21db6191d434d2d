"""Repeats: calls that ask what was asked before.

Two calls ask the same if their kinds, callees and arguments (as text) are equal, or if they are but
for counters in their requests, and their replies are, too (see `evals.graph.counters`). A call
whose arguments are unknown equals no other. Steps that were opened from outside are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evals.graph.interactions import Call, Interactions
from evals.graph.memoize import memoize
from evals.trace import CallType

Asked = int
"""The callee and content of a request, as a number: equal for two steps that ask the same."""


@memoize
def inner_steps(team: Interactions) -> tuple[Call, ...]:
    """List the calls that agents made, to agents and to tools, in order."""
    return tuple(step for step in team.steps if not step.from_outside)


@memoize
def asked_by(team: Interactions) -> Sequence[Asked | None]:
    """Return for each step what it asks of whom; None where that is unknown."""
    agent, tool = CallType.AGENT, CallType.TOOL
    numbers: dict[tuple[str, str, bool, bool], int] = {}
    nears: dict[tuple[str, str, bool, bool], int] = {}
    asked: list[Asked | None] = []
    for step in team.steps:
        if step.arguments is None:
            asked.append(None)
            continue
        # Without the kind itself, for to hash an enum takes as long as all the rest.
        kind = step.kind is agent, step.kind is tool
        key = (step.callee, step.arguments, *kind)
        number = numbers.get(key)
        near = None if step.near is None else (step.callee, step.near, *kind)
        if number is None:
            number = len(numbers) if near is None else nears.get(near, len(numbers))
            numbers[key] = number
        if near is not None:
            nears.setdefault(near, number)
        asked.append(number)
    return asked


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


@memoize
def repeats_of(team: Interactions) -> Repeats:
    """Find the repeats among a team's calls."""
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
