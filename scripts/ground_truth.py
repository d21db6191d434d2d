"""Ground truth: labelled scenarios, and the trace that a compact list of edges stands for.

`data/ground_truth.json` holds them. A scenario is a trace, written as edges, or one of the bundled
teams with faults, which has to be run. This module reads the JSON that somebody else has loaded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evals.trace import CALLER_KIND, CallType, InteractionStep, Trace

CoordinationClass = Literal["high", "medium", "low", "bottleneck", "loop", "degraded"]
"""What a scenario is an example of. The file's head defines each in words, `class_of` in code."""

Label = Literal[
    "balanced",
    "bottleneck",
    "bridge",
    "disconnected",
    "duplicate_work",
    "dyad",
    "empty",
    "failed_member",
    "hierarchy",
    "hub",
    "isolated_member",
    "loop",
    "no_progress",
    "over_centralized",
    "ping_pong",
    "pipeline",
    "silent_failure",
]

_DECISIVE: Mapping[CoordinationClass, frozenset[str]] = {
    "degraded": frozenset({"isolated_member", "failed_member", "silent_failure"}),
    "loop": frozenset({"loop", "ping_pong", "no_progress"}),
    "bottleneck": frozenset({"bottleneck", "hub", "over_centralized"}),
    "low": frozenset({"empty", "dyad", "disconnected", "duplicate_work"}),
    "high": frozenset({"balanced"}),
}
"""The labels that make a class, in the order of the classes."""

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""When the first call of a scenario may begin."""
SPACING_MS = 100
"""From the start of one call to that of the next, where an edge does not say."""
DURATION_MS = 50
"""How long a call takes that has no calls below it, where an edge does not say."""

_MOST_EDGES = 100_000
Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EdgeOptions(_Data):
    """What an edge says beside its ends and its arguments."""

    start_ms: Annotated[int, Field(ge=0)] | None = None
    """After `BEGIN`; by default 100 ms after the start that the edge before it has by default."""
    duration_ms: Annotated[int, Field(ge=0)] | None = None
    """By default 50 ms, or what it takes to enclose the calls below."""
    error: str | None = None
    parent: Annotated[int, Field(ge=0)] | None = None
    """The position, from 0, of the edge in whose course this call was made: an earlier one."""
    call_type: CallType = CallType.AGENT
    caller_kind: Literal["user"] | None = None
    """`user`: opened from outside, so it encloses what the agents do and is no call of theirs."""


Edge = tuple[Name, Name, str | None] | tuple[Name, Name, str | None, EdgeOptions]
"""Caller, callee and arguments (None where unknown), and options where there are any."""


class TraceSource(_Data):
    """A scenario that is a trace."""

    kind: Literal["trace"]
    roster: tuple[Name, ...] | None = None
    """The team's members; None where unknown."""
    edges: Annotated[tuple[Edge, ...], Field(max_length=_MOST_EDGES)]

    @model_validator(mode="after")
    def _parents_come_first(self) -> Self:
        for position, edge in enumerate(self.edges):
            parent = _options(edge).parent
            if parent is not None and parent >= position:
                msg = f"edge {position} has parent {parent}; a parent is an earlier edge"
                raise ValueError(msg)
        return self


class TeamSource(_Data):
    """A scenario that is a run of one of the bundled teams."""

    kind: Literal["team"]
    team: Name
    faults: tuple[Annotated[str, Field(pattern=r"^(fail|slow|drop):\S+$")], ...] = ()


class Scenario(_Data):
    """One labelled example."""

    id: Name
    description: str
    coordination_class: Annotated[CoordinationClass, Field(alias="class")]
    source: Annotated[TraceSource | TeamSource, Field(discriminator="kind")]
    labels: tuple[Label, ...]
    """All that hold, in alphabetical order."""

    @model_validator(mode="after")
    def _labels_are_sorted(self) -> Self:
        if list(self.labels) != sorted(set(self.labels)):
            msg = f"scenario {self.id!r}: labels must be sorted, each once, not {self.labels!r}"
            raise ValueError(msg)
        return self


class GroundTruth(_Data):
    """All scenarios, and what the classes mean."""

    version: str
    classes: dict[CoordinationClass, str]
    """The definition of each; the first that holds, in this order, is a scenario's class."""
    scenarios: tuple[Scenario, ...]

    @model_validator(mode="after")
    def _is_complete(self) -> Self:
        missing = sorted(set(get_args(CoordinationClass)) - set(self.classes))
        if missing:
            msg = f"classes without a definition: {', '.join(missing)}"
            raise ValueError(msg)
        seen: set[str] = set()
        for scenario in self.scenarios:
            if scenario.id in seen:
                msg = f"two scenarios have the id {scenario.id!r}"
                raise ValueError(msg)
            seen.add(scenario.id)
        return self


def read_ground_truth(value: Any) -> GroundTruth:
    """Return the scenarios of parsed JSON.

    Raises:
        pydantic.ValidationError: it is no ground truth; the error names the place.
    """
    return GroundTruth.model_validate(value)


def class_of(labels: Collection[str]) -> CoordinationClass:
    """Return the class of a team with these labels: the first that one of them makes, else medium.

    Labels alone decide. They compare a team with teams of its own size, so a ring, a mesh, a star, a
    chain or a tree stays in its class when members join; its density would not.
    """
    found = (name for name, decisive in _DECISIVE.items() if not decisive.isdisjoint(labels))
    return next(found, "medium")


def trace_of(source: TraceSource, *, trace_id: str) -> Trace:
    """Return the trace that a list of edges stands for.

    Its steps are `s0`, `s1` ... in that order, with as many digits as the last one needs: then
    calls that begin at the same time keep the order of the edges.
    """
    digits = len(str(len(source.edges) - 1))
    ids = [f"s{position:0{digits}d}" for position in range(len(source.edges))]
    starts, ends = _times(source.edges)
    steps = (
        _step(edge, ids, position, trace_id, starts[position], ends[position])
        for position, edge in enumerate(source.edges)
    )
    return Trace(trace_id=trace_id, steps=tuple(steps))


def _options(edge: Edge) -> EdgeOptions:
    return edge[3] if len(edge) == 4 else EdgeOptions()


def _times(edges: tuple[Edge, ...]) -> tuple[list[int], list[int]]:
    """When each call starts and ends, in milliseconds."""
    starts = [_start(edge, position) for position, edge in enumerate(edges)]
    ends = [0] * len(edges)
    for position in reversed(range(len(edges))):
        options = _options(edges[position])
        if options.duration_ms is not None:
            ends[position] = starts[position] + options.duration_ms
        else:
            ends[position] = max(ends[position], starts[position] + DURATION_MS)
        if options.parent is not None:
            ends[options.parent] = max(ends[options.parent], ends[position])
    return starts, ends


def _start(edge: Edge, position: int) -> int:
    start = _options(edge).start_ms
    return position * SPACING_MS if start is None else start


def _step(
    edge: Edge, ids: Sequence[str], position: int, trace_id: str, start: int, end: int
) -> InteractionStep:
    options = _options(edge)
    return InteractionStep(
        step_id=ids[position],
        trace_id=trace_id,
        parent_step_id=None if options.parent is None else ids[options.parent],
        call_type=options.call_type,
        caller=edge[0],
        callee=edge[1],
        start_time=BEGIN + timedelta(milliseconds=start),
        end_time=BEGIN + timedelta(milliseconds=end),
        latency_ms=float(end - start),
        error=options.error,
        request_text=edge[2],
        additional_attributes={} if options.caller_kind is None else {CALLER_KIND: "user"},
    )
