"""Traces of teams that work well, and the same traces with one pathology planted in a known dose.

They tell whether a metric finds what it should find: plant 0 (nothing) to 5 (a lot) of a pathology
and see whether the metric follows. All is drawn from the seed: the same arguments give the same
trace, and what a higher dose plants includes what a lower one does. Calls are laid out in time one
after the other: nobody in these teams works in parallel.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Literal, TypeVar, get_args

from evals.trace import Trace
from tests.fakes.call_tree import CallTree, Node

Topology = Literal["mesh", "circle", "layers", "squads"]
"""Who consults whom in a clean trace:

- `mesh`: everyone everyone;
- `circle`: everyone the next ones at a round table, a little less than half of the others;
- `layers`: the upper half each other and all of the lower half, which only answers;
- `squads`: two halves, everyone their own half, and the upper one a counterpart in the lower.
"""

Pathology = Literal[
    "bottleneck",
    "disconnected",
    "distribution",
    "duplicate_work",
    "failed_member",
    "isolated_agent",
    "loop",
    "over_centralized",
    "ping_pong",
    "silent_failure",
]
"""By the names of the findings; `distribution` plants too little of it: a low density."""

LEAST_AGENTS = 6
MOST_AGENTS = 200
MOST_DOSE = 5

_SPREAD_DENSITY = 0.3
"""Where thinning out begins: above this, calls count as spread."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Planted:
    """A trace with something planted in it."""

    trace: Trace
    roster: tuple[str, ...]
    """All members, also those that nobody calls; in alphabetical order."""
    step_ids: tuple[str, ...]
    """The steps that were added or changed, in order; none where calls were left out instead."""


def clean_trace(
    seed: int,
    agents: int = 10,
    *,
    topology: Topology | None = None,
    hitches: float = 0.03,
    trace_id: str = "clean",
) -> Trace:
    """The trace of a team in which everybody consults several others, once each, about new things.

    Nothing is done twice, no agent stands between all the others, the density is above 0.3. As in
    real teams, a call fails now and then and is repeated at once, or is asked back about.

    Args:
        seed: Decides who is who, times and, where it is not given, the topology.
        agents: Size of the team, 6 to 200.
        topology: Who consults whom.
        hitches: How likely a call is to fail the first time, and how likely to be asked back
            about: 0 to 1.
        trace_id: Of the trace and its steps.

    Raises:
        ValueError: The size or `hitches` is out of range.
    """
    if not LEAST_AGENTS <= agents <= MOST_AGENTS:
        msg = f"a team of {agents} agents; there must be {LEAST_AGENTS} to {MOST_AGENTS}"
        raise ValueError(msg)
    if not 0 <= hitches <= 1:
        msg = f"hitches of {hitches!r}; it is a likelihood, 0 to 1"
        raise ValueError(msg)
    draw = _draw("clean", seed)
    chosen = draw.choice(get_args(Topology)) if topology is None else topology
    names = [f"agent-{number:03d}" for number in range(1, agents + 1)]
    draw.shuffle(names)
    tree = CallTree(trace_id=trace_id)
    _consult(tree, names[0], _consulted(chosen, names), draw, hitches)
    return tree.trace()


def plant(
    trace: Trace, pathology: Pathology, dose: int, seed: int, *, roster: Sequence[str] = ()
) -> Planted:
    """The trace with the more of one pathology the higher the dose.

    What a dose d does, as far as the trace is big enough for it:

    - `bottleneck`: d fifths of the members reach the others through one member alone.
    - `disconnected`: d pairs join who are asked by the user and ask only each other.
    - `distribution`: calls are left out until the density is d fifths of the way down from 0.3 to
      what just holds the team together.
    - `duplicate_work`: d tenths of the calls are made twice.
    - `failed_member`: every call to d of the members fails.
    - `isolated_agent`: d members join whom nobody calls.
    - `loop`: d requests come back to the agent that is at work on them.
    - `over_centralized`: d fifths of the calls that did without the busiest member go through it.
    - `ping_pong`: d fifths of the calls are handed back and forth before work begins.
    - `silent_failure`: d calls whose caller's own step is in the trace fail, and nobody reacts.

    Dose 0 gives the trace back as it is; with any other, times are laid out afresh.

    Args:
        trace: Of `clean_trace`, or any other.
        pathology: What to plant.
        dose: 0 to 5.
        seed: Decides where.
        roster: Members that the trace may not show.

    Raises:
        ValueError: The pathology is unknown, the dose out of range, or the trace has two steps with
            one id or parents that form a circle.
    """
    planter = _PLANTERS.get(pathology)
    if planter is None:
        msg = f"no pathology {pathology!r}; there are: {', '.join(_PLANTERS)}"
        raise ValueError(msg)
    if not 0 <= dose <= MOST_DOSE:
        msg = f"a dose of {dose}; it must be 0 to {MOST_DOSE}"
        raise ValueError(msg)
    tree = CallTree.of(trace, roster)
    if dose > 0:
        planter(tree, dose, _draw(pathology, seed))
    return Planted(
        trace=tree.trace() if dose > 0 else trace,
        roster=tuple(sorted(tree.members)),
        step_ids=tuple(node.step.step_id for node in tree.nodes() if node.planted),
    )


def _draw(purpose: str, seed: int) -> random.Random:
    return random.Random(f"{purpose}:{seed}")  # noqa: S311  (a draw to be repeated, no secret)


def _shuffled(items: Sequence[T], draw: random.Random) -> list[T]:
    """The items in a drawn order. A dose takes the first of them, a higher one the same and more."""
    return draw.sample(items, len(items))


def _at_least(share: float, size: int) -> int:
    """How many of `size` are that share, rounded up; a whole number stays what it is."""
    return math.ceil(round(share * size, 9))


def _consulted(topology: Topology, names: Sequence[str]) -> dict[str, list[str]]:
    """Whom each member consults."""
    size = len(names)
    if topology in ("layers", "squads"):
        return _in_halves(topology, names[: size // 2], names[size // 2 :])
    reach = size - 1 if topology == "mesh" else round(0.45 * (size - 1))
    return {
        name: [names[(at + step) % size] for step in range(1, reach + 1)]
        for at, name in enumerate(names)
    }


def _in_halves(
    topology: Topology, upper: Sequence[str], lower: Sequence[str]
) -> dict[str, list[str]]:
    peers = {name: [other for other in upper if other != name] for name in upper}
    if topology == "layers":
        return {name: [*peers[name], *lower] for name in upper}
    for name, counterpart in zip(upper, lower, strict=False):
        peers[name].append(counterpart)
    return peers | {name: [other for other in lower if other != name] for name in lower}


def _consult(
    tree: CallTree,
    entry: str,
    consulted: Mapping[str, Sequence[str]],
    draw: random.Random,
    hitches: float,
) -> None:
    """The calls that follow when the user asks `entry`.

    A member does its own consulting in the course of the first call that it receives.
    """
    root = tree.open(entry, "the whole task", work_ms=draw.randint(20, 200))
    asked = {entry}
    under_way = [(root, iter(consulted[entry]))]
    part = 0
    while under_way:
        node, others = under_way[-1]
        other = next(others, None)
        if other is None:
            under_way.pop()
            continue
        part += 1
        below = _ask(tree, node, other, f"part {part}", draw, hitches)
        if other not in asked:
            asked.add(other)
            under_way.append((below, iter(consulted.get(other, ()))))


def _ask(
    tree: CallTree, node: Node, other: str, what: str, draw: random.Random, hitches: float
) -> Node:
    """One call in the course of another; with bad luck the second try, or with a question back."""
    caller = node.step.callee
    if draw.random() < hitches:
        tree.add(caller, other, what, above=node, work_ms=1, error="busy")
    call = tree.add(caller, other, what, above=node, work_ms=draw.randint(20, 200))
    if draw.random() < hitches:
        tree.add(other, caller, f"which {what}?", above=call, work_ms=draw.randint(20, 200))
    return call


def _bottleneck(tree: CallTree, dose: int, draw: random.Random) -> None:
    if not tree.members:
        return
    broker, *others = _shuffled(sorted(tree.members), draw)
    cut_off = set(others[: dose * len(others) // MOST_DOSE])
    for call in tree.calls():
        if broker not in call.ends and not cut_off.isdisjoint(call.ends):
            tree.relay(call, broker)


def _over_centralized(tree: CallTree, dose: int, draw: random.Random) -> None:
    calls = tree.calls()
    if not calls:
        return
    touched = Counter(end for call in calls for end in call.ends)
    busiest = max(_shuffled(sorted(tree.members), draw), key=lambda member: touched[member])
    without = [call for call in calls if busiest not in call.ends]
    for call in _shuffled(without, draw)[: _at_least(dose / MOST_DOSE, len(without))]:
        tree.relay(call, busiest)


def _distribution(tree: CallTree, dose: int, draw: random.Random) -> None:
    calls: dict[tuple[str, str], list[Node]] = defaultdict(list)
    for call in tree.calls():
        calls[call.ends].append(call)
    needed = _holding_together(calls)
    spread = min(len(calls), _SPREAD_DENSITY * len(tree.members) * (len(tree.members) - 1))
    wanted = round(spread + (len(needed) - spread) * dose / MOST_DOSE)
    free = _shuffled([pair for pair in sorted(calls) if pair not in needed], draw)
    _leave_out(tree, calls, free, len(calls) - wanted)


def _leave_out(
    tree: CallTree,
    calls: Mapping[tuple[str, str], Sequence[Node]],
    pairs: Sequence[tuple[str, str]],
    wanted: int,
) -> None:
    """Remove so many pairs, in this order. One with calls below its own waits until they went."""
    left, waiting = wanted, list(pairs)
    while left > 0 and any(_all_leaves(calls[pair]) for pair in waiting):
        passed_over = []
        for pair in waiting:
            if left <= 0 or not _all_leaves(calls[pair]):
                passed_over.append(pair)
                continue
            for call in calls[pair]:
                tree.remove(call)
            left -= 1
        waiting = passed_over


def _all_leaves(calls: Sequence[Node]) -> bool:
    return not any(call.below for call in calls)


def _holding_together(calls: Mapping[tuple[str, str], Sequence[Node]]) -> set[tuple[str, str]]:
    """Pairs that suffice to connect all that is connected; first those with calls below theirs."""
    group: dict[str, set[str]] = {end: {end} for pair in calls for end in pair}
    needed = set()
    for pair in sorted(calls, key=lambda pair: (_all_leaves(calls[pair]), pair)):
        one, other = group[pair[0]], group[pair[1]]
        if one is not other:
            needed.add(pair)
            one |= other
            group.update(dict.fromkeys(other, one))
    return needed


def _isolated_agent(tree: CallTree, dose: int, draw: random.Random) -> None:
    del draw  # Who is idle is nobody in particular.
    names = (f"idle-{number}" for number in range(1, len(tree.members) + dose + 1))
    tree.members.update([name for name in names if name not in tree.members][:dose])


def _disconnected(tree: CallTree, dose: int, draw: random.Random) -> None:
    if not tree.calls():
        return
    numbers = (n for n in count(1) if tree.members.isdisjoint(_pair(n)))
    for number in list(islice(numbers, dose)):
        one, other = _pair(number)
        task = tree.open(one, f"task {number}, apart", work_ms=draw.randint(20, 200))
        task.planted = True
        tree.plant(one, other, f"part of task {number}, apart", above=task)


def _pair(number: int) -> tuple[str, str]:
    return f"apart-{number}-a", f"apart-{number}-b"


def _loop(tree: CallTree, dose: int, draw: random.Random) -> None:
    known = [call for call in tree.calls() if call.step.request_text is not None]
    for call in _shuffled(known, draw)[:dose]:
        caller, callee = call.ends
        third = draw.choice(sorted(tree.members - {caller, callee}) or [caller])
        passed_on = tree.plant(callee, third, call.step.request_text, above=call)
        tree.plant(third, callee, call.step.request_text, above=passed_on)


def _ping_pong(tree: CallTree, dose: int, draw: random.Random) -> None:
    calls = tree.calls()
    for call in _shuffled(calls, draw)[: _at_least(dose / MOST_DOSE, len(calls))]:
        caller, callee = call.ends
        about = f"{call.step.request_text or 'something'} of {call.step.step_id}"
        back = tree.plant(callee, caller, f"take back {about}", above=call, first=True)
        tree.plant(caller, callee, f"take again {about}", above=back)


def _duplicate_work(tree: CallTree, dose: int, draw: random.Random) -> None:
    calls = [c for c in tree.calls() if c.step.request_text is not None and c.step.error is None]
    for call in _shuffled(calls, draw)[: _at_least(dose / 10, len(calls))]:
        tree.plant_copy(call)


def _silent_failure(tree: CallTree, dose: int, draw: random.Random) -> None:
    calls = tree.calls()
    asked = Counter((call.step.callee, call.step.request_text) for call in calls)
    quiet = [
        call
        for call in calls
        if not call.below
        and call.step.error is None
        and call.above is not None
        and call.above.step.callee == call.step.caller
        and call.above.step.error is None
        and asked[call.step.callee, call.step.request_text] == 1
    ]
    for call in _shuffled(quiet, draw)[:dose]:
        call.change(error="planted: no answer")


def _failed_member(tree: CallTree, dose: int, draw: random.Random) -> None:
    calls = tree.calls()
    failing = _shuffled(sorted({call.step.callee for call in calls}), draw)[:dose]
    for call in calls:
        if call.step.callee in failing:
            call.change(error="planted: the member is down")


_PLANTERS: Mapping[str, Callable[[CallTree, int, random.Random], None]] = {
    "bottleneck": _bottleneck,
    "disconnected": _disconnected,
    "distribution": _distribution,
    "duplicate_work": _duplicate_work,
    "failed_member": _failed_member,
    "isolated_agent": _isolated_agent,
    "loop": _loop,
    "over_centralized": _over_centralized,
    "ping_pong": _ping_pong,
    "silent_failure": _silent_failure,
}
