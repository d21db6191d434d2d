"""Interactions: a trace as the calls of a team. What every graph metric computes from.

Conventions, the same for all metrics:

- Members are the roster and the callers and callees of calls between agents. Tools are no members.
- A step that was opened from outside (by the user, or by the assessor in that part) encloses what
  the agents do: it counts in the metrics of time alone.
- Calls are in the order of their start, to the microsecond. Where that is the same, a parent comes
  before its children. A step without a start keeps its place behind the step before it.
- An edge is caller -> callee, weighted with the number of calls, failed ones and retries too.
  Calls of an agent to itself are no edges; they are kept apart and counted.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple
from weakref import ref

from evals.trace import CONTRADICTION, NOT_BELIEVED, CallType, InteractionStep, Provenance, Trace

_AGENT = CallType.AGENT  # to look it up in its enum takes ten times as long
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Call(NamedTuple):
    """One step, as the metrics see it. `index` and `parent` count through `Interactions.steps`.

    (There is one for every step of a trace: a named tuple is made in a third of the time that a
    frozen dataclass takes.)
    """

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody asks of a call
    step_id: str
    parent: int | None
    kind: CallType
    caller: str
    callee: str
    arguments: str | None
    """Hash of what was asked for; None where that is unknown, which equals nothing."""
    start_us: int | None
    """Microseconds since 1970."""
    end_us: int | None
    """Never before `start_us`."""
    failed: bool
    from_outside: bool
    provenance: Provenance
    contradiction: str | None

    @property
    def key(self) -> tuple[CallType, str, str] | None:
        """Equal for calls that ask the same of the same callee; None where that is unknown."""
        return None if self.arguments is None else (self.kind, self.callee, self.arguments)


@dataclass(frozen=True, kw_only=True)
class Interactions:
    """A team's calls. Made by `Interactions.of`.

    `steps` holds every usable step, tools and enclosing ones too; `agent_calls` those between
    agents, self-calls too; `calls` those between two different agents.
    """

    trace_id: str
    members: tuple[str, ...]
    """In alphabetical order."""
    roster_known: bool
    steps: tuple[Call, ...]
    problems: tuple[str, ...]
    """What of the trace could not be used as it was, in words with counts."""
    disbelieved: int = 0
    """Reported calls that the assessor should have seen and did not. They are not among `steps`."""

    @classmethod
    def of(cls, trace: Trace, roster: Iterable[str] | None = None) -> Interactions:
        """The calls of a trace. Whatever is wrong with it becomes a problem, never an error.

        Asked again about the same trace and roster, it returns the same object: several evaluators
        ask one after the other.
        """
        members = None if roster is None else frozenset(roster)
        made = _made_of(trace)
        if members not in made:
            made[members] = cls._made(trace, members)
        return made[members]

    @classmethod
    def _made(cls, trace: Trace, roster: frozenset[str] | None) -> Interactions:
        problems: Counter[str] = Counter()
        steps = _linked(_distinct(trace.steps, problems), problems)
        ends = {
            end
            for step in steps
            if step.kind is _AGENT and not step.from_outside
            for end in (step.caller, step.callee)
        }
        return cls(
            trace_id=trace.trace_id,
            members=tuple(sorted(ends | (roster or frozenset()))),
            roster_known=roster is not None,
            steps=steps,
            problems=tuple(f"{count} x {what}" for what, count in sorted(problems.items())),
            disbelieved=sum(NOT_BELIEVED in step.additional_attributes for step in trace.steps),
        )

    @cached_property
    def agent_calls(self) -> tuple[Call, ...]:
        """Calls between agents in order, calls of an agent to itself too."""
        return tuple(step for step in self.steps if step.kind is _AGENT and not step.from_outside)

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """Calls between two different agents, in order."""
        return tuple(call for call in self.agent_calls if call.caller != call.callee)

    @cached_property
    def weights(self) -> Mapping[tuple[str, str], int]:
        """How often each caller called each callee; sorted, without self-calls."""
        counts = Counter((call.caller, call.callee) for call in self.calls)
        return dict(sorted(counts.items()))

    @cached_property
    def children(self) -> Sequence[Sequence[int]]:
        """For each step, the indices of the steps below it, in order."""
        below: list[list[int]] = [[] for _ in self.steps]
        for step in self.steps:
            if step.parent is not None:
                below[step.parent].append(step.index)
        return below

    @property
    def coverage(self) -> float | None:
        """Share of the calls between agents that the assessor saw itself, 0 to 1; None: no call.

        Calls that are not believed are among those that it did not see.
        """
        told = len(self.agent_calls) + self.disbelieved
        if not told:
            return None
        seen = sum(call.provenance is Provenance.OBSERVED for call in self.agent_calls)
        return seen / told

    @property
    def is_dyad(self) -> bool:
        """Whether there are calls, and no more than two members."""
        return len(self.members) <= 2 and bool(self.calls)

    def too_few(self, least: int) -> str | None:
        """Why a metric that needs `least` members is undefined here; None where it is not."""
        found = len(self.members)
        if not self.calls:
            return "empty: no call between two agents"
        if found >= least:
            return None
        if self.is_dyad:
            return f"dyad: needs at least {least} agents, there are {found}"
        return f"needs at least {least} agents, there are {found}"


_Made = dict[frozenset[str] | None, Interactions]
"""By roster."""
_MADE: OrderedDict[int, tuple[ref[Trace], _Made]] = OrderedDict()
"""For the traces asked about last, by identity: to hash or compare traces would read every step.

An entry goes with its trace at the latest. Each access is one operation, so threads need no lock;
two that ask at once do the work twice."""
_MOST_KEPT = 16
_MOST_COMPARED = 8
"""Different steps of one id that a further one is compared with."""


def _made_of(trace: Trace) -> _Made:
    key = id(trace)
    kept = _MADE.get(key)
    if kept is None:
        kept = _MADE[key] = (ref(trace, lambda _: _MADE.pop(key, None)), {})
        if len(_MADE) > _MOST_KEPT:
            _MADE.popitem(last=False)
    return kept[1]


def _distinct(
    steps: Sequence[InteractionStep], problems: Counter[str]
) -> list[tuple[int, InteractionStep]]:
    """The steps, each once, with the start to order them by: its own, where it has one."""
    first: dict[str, InteractionStep] = {}
    further: dict[str, list[InteractionStep]] = {}
    kept: list[tuple[int, InteractionStep]] = []
    before = 0
    for step in steps:
        if NOT_BELIEVED in step.additional_attributes:
            problems["reported call that should have been seen, and was not: not counted"] += 1
            continue
        if step.start_time is not None:
            before = _microseconds(step.start_time)
        if step.step_id not in first:
            first[step.step_id] = step
        else:
            others = further.setdefault(step.step_id, [first[step.step_id]])
            if step in others:
                problems["step sent twice: taken once"] += 1
                continue
            problems["id of two different steps: both taken"] += 1
            if len(others) < _MOST_COMPARED:
                others.append(step)
        kept.append((before, step))
    return kept


def _linked(kept: list[tuple[int, InteractionStep]], problems: Counter[str]) -> tuple[Call, ...]:
    parents = _parents([step for _, step in kept], problems)
    depths = _depths(parents)

    def when(at: int) -> tuple[int, bool, int, str]:
        start, step = kept[at]
        if step.start_time is None:  # its place in the trace is all that is known
            return start, True, at, ""
        return start, False, depths[at], step.step_id

    order = sorted(range(len(kept)), key=when)
    place = {at: index for index, at in enumerate(order)}
    above = [None if parent is None else place[parent] for parent in parents]
    return tuple(
        _call(kept[at][1], index, above[at], kept[at][0], problems)
        for index, at in enumerate(order)
    )


def _call(
    step: InteractionStep, index: int, parent: int | None, order_us: int, problems: Counter[str]
) -> Call:
    start = None if step.start_time is None else order_us
    end = None if step.end_time is None else _microseconds(step.end_time)
    if start is None or end is None:
        problems["step without start or end: not in the metrics of time"] += 1
    elif end < start:
        problems["step that ends before it begins: its end is not used"] += 1
        end = None
    return Call(
        index=index,
        step_id=step.step_id,
        parent=parent,
        kind=step.call_type,
        caller=step.caller,
        callee=step.callee,
        arguments=_arguments(step),
        start_us=start,
        end_us=end,
        failed=step.error is not None,
        from_outside=step.from_outside,
        provenance=step.provenance,
        contradiction=step.additional_attributes.get(CONTRADICTION),
    )


def _parents(steps: Sequence[InteractionStep], problems: Counter[str]) -> list[int | None]:
    """The place of each step's parent; links to nowhere and links that close a circle are cut."""
    places: dict[str, int] = {}
    for at, step in enumerate(steps):
        places.setdefault(step.step_id, at)
    parents: list[int | None] = []
    for step in steps:
        parent = None if step.parent_step_id is None else places.get(step.parent_step_id)
        if parent is None and step.parent_step_id is not None:
            problems["parent that does not exist: taken as none"] += 1
        parents.append(parent)
    for circle in _circles(parents):
        problems["step whose parents form a circle: taken as without parent"] += len(circle)
        for at in circle:
            parents[at] = None
    return parents


def _circles(parents: Sequence[int | None]) -> list[list[int]]:
    """The circles in a forest of parent links that should have none."""
    state = [0] * len(parents)  # 0 not seen, 1 on the way, 2 done
    circles = []
    for start in range(len(parents)):
        way: list[int] = []
        at: int | None = start
        while at is not None and state[at] == 0:
            state[at] = 1
            way.append(at)
            at = parents[at]
        if at is not None and state[at] == 1:
            circles.append(way[way.index(at) :])
        for done in way:
            state[done] = 2
    return circles


def _depths(parents: Sequence[int | None]) -> list[int]:
    """How many parents stand above each step."""
    depths = [-1] * len(parents)
    for start in range(len(parents)):
        way: list[int] = []
        at: int | None = start
        while at is not None and depths[at] < 0:
            way.append(at)
            at = parents[at]
        depth = -1 if at is None else depths[at]
        for step in reversed(way):
            depth += 1
            depths[step] = depth
    return depths


def _microseconds(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND


def _arguments(step: InteractionStep) -> str | None:
    if step.request_text is None:
        return None
    asked = f"{step.name or ''}\0{step.request_text.strip()}"
    return hashlib.blake2s(asked.encode(errors="surrogatepass"), digest_size=16).hexdigest()
