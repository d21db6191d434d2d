"""TeamCalls: the calls between the agents behind a participant, counted over its trials."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evals.latency import percentiles
from evals.trace import NOT_BELIEVED, CallType, InteractionStep, Provenance, Trace

MOST_EDGES = 5_000
"""Pairs of agents of one participant that are counted; agents name each other as they like."""
LEAST_FOR_P95 = 20
"""Known times from which a 95th percentile is more than the slowest call."""


@dataclass(kw_only=True)
class Calls:
    """Calls from one agent to another, in all trials of a team."""

    calls: int = 0
    observed: int = 0
    """Calls that the assessor saw itself; participants reported the others."""
    failed: int = 0
    latencies_ms: list[float] = field(default_factory=list)
    """The times of the calls that did not fail, where they are known."""
    tokens: int = 0
    with_tokens: int = 0
    """Calls whose tokens are known."""
    cost: float = 0.0
    """In US dollars."""
    with_cost: int = 0

    def add(self, step: InteractionStep) -> None:
        """Count one call."""
        self.calls += 1
        self.observed += step.provenance is Provenance.OBSERVED
        self.failed += step.error is not None
        if step.error is None and step.latency_ms is not None:
            self.latencies_ms.append(step.latency_ms)
        if step.total_tokens is not None:
            self.tokens += step.total_tokens
            self.with_tokens += 1
        if step.cost is not None:
            self.cost += step.cost
            self.with_cost += 1

    @property
    def median_ms(self) -> float | None:
        """Return the median time of the calls that did not fail; None where no time is known."""
        return statistics.median(self.latencies_ms) if self.latencies_ms else None

    @property
    def p95_ms(self) -> float | None:
        """Return the 95th percentile of the same times; None for fewer than `LEAST_FOR_P95`."""
        if len(self.latencies_ms) < LEAST_FOR_P95:
            return None
        return percentiles(self.latencies_ms)["p95_ms"]


@dataclass(kw_only=True)
class TeamCalls:
    """The calls between the agents behind one participant in one domain."""

    trials: int = 0
    edges: dict[tuple[str, str], Calls] = field(default_factory=dict)
    edges_left_out: int = 0
    """Calls of pairs beyond the bound."""
    members: set[str] = field(default_factory=set)
    """All of the roster; nobody where it is unknown."""
    weak_spots: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Finding and agent, by the number of trials."""

    def add(self, step: InteractionStep, callee: str) -> None:
        """Count one call between agents."""
        pair = step.caller, callee
        if pair not in self.edges and len(self.edges) >= MOST_EDGES:
            self.edges_left_out += 1
            return
        self.edges.setdefault(pair, Calls()).add(step)


def calls_between_agents(
    trace: Trace, roster: Iterable[str]
) -> Iterator[tuple[InteractionStep, str]]:
    """Yield the calls that count, each with its callee.

    A team that is called by its address has its calls answered by one of its members. That member
    is the callee here, where a call that it made inside tells which one it is.

    Args:
        trace: The steps of one trial.
        roster: All members of the team; empty where they are unknown.
    """
    members = set(roster)
    calls = [
        step
        for step in trace.steps
        if step.call_type is CallType.AGENT and NOT_BELIEVED not in step.additional_attributes
    ]
    entry = _entry(calls, members)
    for step in calls:
        yield step, entry if entry and _is_addressed(step, members) else step.callee


def _is_addressed(step: InteractionStep, roster: set[str]) -> bool:
    """Tell whether the team was called by its address instead of by the name of a member."""
    return bool(roster) and step.from_outside and step.callee not in roster


def _entry(calls: Iterable[InteractionStep], roster: set[str]) -> str | None:
    """Return the member that answers at the team's address: the caller inside of such a call."""
    outside = {step.step_id for step in calls if _is_addressed(step, roster)}
    return next(
        (each.caller for each in calls if each.parent_step_id in outside and each.caller in roster),
        None,
    )
