"""Thresholds, and findings: weaknesses of a team, with the steps that show them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from evals.graph.failures import failed_members, failures_of
from evals.graph.handoffs import reversals_of
from evals.graph.interactions import Call, Interactions
from evals.graph.metric import MetricValue
from evals.graph.nesting import nesting_of
from evals.graph.repeats import repeats_of
from evals.graph.rewiring import Percentile
from evals.graph.shape import groups_of, isolated_members

MOST_STEPS = 20
"""A finding names no more steps than this; how many there are stands beside them."""
MOST_AGENTS = 20
"""The same for agents."""
_NAMED = 3
_NAME_CHARACTERS = 60
_EQUAL_WITHIN = 1e-9
_PLAIN = re.compile(r"[\w.:@/…-]+")
"""Names that need no quotes: nothing in them could pass for words of a sentence."""


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Limits from which findings and labels hold. Printed with every result."""

    bottleneck_betweenness: float = 0.5
    """Betweenness above it is a bottleneck (undirected projection, normalised)."""
    over_centralized_share: float = 0.7
    """Above it, one agent takes part in too many of the calls."""
    healthy_density: float = 0.3
    """Density above it means that the calls are spread."""
    hub_centralization: float = 0.7
    hub_members: int = 4
    balanced_gini: float = 0.2
    balanced_centralization: float = 0.2
    ping_pong_share: float = 0.5
    ping_pong_calls: int = 4
    duplicate_share: float = 0.1


class Finding(BaseModel):
    """A weakness or trait of the team worth a look, with the steps that show it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """A name in snake_case, for example `bottleneck`."""
    statement: str
    """One sentence with agents and figures."""
    agents: tuple[str, ...] = ()
    """The first agents that it is about; `details` has `agents_in_all` where there are more."""
    value: float | None = None
    threshold: float | None = None
    step_ids: tuple[str, ...] = ()
    """The first steps that show it; `steps_in_all` says how many there are."""
    steps_in_all: int = 0
    details: dict[str, float | str] = {}


def exceeds(figure: float, threshold: float) -> bool:
    """Check whether a figure is above a threshold by more than the error of computing it."""
    return figure > threshold + _EQUAL_WITHIN


def findings_of(
    team: Interactions,
    values: Mapping[str, MetricValue],
    labels: Iterable[str],
    thresholds: Thresholds,
    *,
    percentiles: Mapping[str, Percentile] | None = None,
) -> tuple[Finding, ...]:
    """List what to look at in a team, always in the same order.

    `distribution` is among them wherever density is defined. All others hold together with the
    label of the same meaning.

    Args:
        team: The interactions.
        values: Values of the metrics, by name.
        labels: The labels that `evals.graph.labels.labels_of` gave the same team.
        thresholds: Where findings begin.
        percentiles: Where the team stands among random graphs, by metric.
    """
    measured = _Measured(
        team=team, values=values, thresholds=thresholds, percentiles=dict(percentiles or {})
    )
    wanted = {*labels, *({"distribution"} if measured.value("density") is not None else ())}
    return tuple(build(measured) for label, build in _BUILDERS.items() if label in wanted)


@dataclass(frozen=True, kw_only=True)
class _Measured:
    team: Interactions
    values: Mapping[str, MetricValue]
    thresholds: Thresholds
    percentiles: Mapping[str, Percentile]

    def value(self, metric: str) -> float | None:
        found = self.values.get(metric)
        return None if found is None else found.value

    def above(self, metric: str, threshold: float) -> list[str]:
        """List the agents for which a metric exceeds a threshold, the highest first."""
        found = self.values.get(metric)
        by_agent = (found.agents if found is not None else None) or {}
        agents = [agent for agent, figure in by_agent.items() if exceeds(figure, threshold)]
        return sorted(agents, key=lambda agent: (-by_agent[agent], agent))


def _bottleneck(measured: _Measured) -> Finding:
    threshold = measured.thresholds.bottleneck_betweenness
    agents = measured.above("betweenness", threshold)
    highest = _figure(measured.value("betweenness"))
    return _finding(
        "bottleneck",
        f"{_names(agents)} {'lies' if len(agents) == 1 else 'lie'} on most of the shortest paths "
        f"between the others: betweenness {highest} (limit {threshold:g}).",
        agents=agents,
        value=measured.value("betweenness"),
        threshold=threshold,
        steps=_touching(measured.team, agents),
    )


def _isolated_agent(measured: _Measured) -> Finding:
    agents = isolated_members(measured.team)
    alone = set(agents)
    steps = [step for step in measured.team.steps if {step.caller, step.callee} & alone]
    idle = len(alone) - len({end for step in steps for end in (step.caller, step.callee)} & alone)
    inactive = f"; {idle} of {len(alone)} took part in no step" if idle else ""
    return _finding(
        "isolated_agent",
        f"{_names(agents)} neither called nor answered any other of the "
        f"{len(measured.team.members)} members"
        f"{' and took part in no step' if idle == len(alone) else inactive}.",
        agents=agents,
        value=float(len(agents)),
        steps=steps,
        details={"idle": float(idle)},
    )


def _disconnected(measured: _Measured) -> Finding:
    groups = groups_of(measured.team)
    group_of = {agent: at for at, group in enumerate(groups) for agent in group}
    first = {group_of[call.caller]: call for call in reversed(measured.team.calls)}
    named = "; ".join(_names(group) for group in groups[:_NAMED])
    more = f"; and {_count(len(groups) - _NAMED, 'more group')}" if len(groups) > _NAMED else ""
    return _finding(
        "disconnected",
        f"The team falls into {len(groups)} groups that never call each other: {named}{more}.",
        agents=[agent for group in groups for agent in group],
        value=float(len(groups)),
        threshold=1.0,
        steps=[first[at] for at in range(len(groups))],
    )


def _over_centralized(measured: _Measured) -> Finding:
    threshold = measured.thresholds.over_centralized_share
    agents = measured.above("interaction_share", threshold)
    calls = measured.team.calls
    most = round((measured.value("interaction_share") or 0.0) * len(calls))
    return _finding(
        "over_centralized",
        f"{_names(agents)} {'takes part in' if len(agents) == 1 else 'each take part in up to'} "
        f"{most} of {_count(len(calls), 'call')} (limit {_percent(threshold)}).",
        agents=agents,
        value=measured.value("interaction_share"),
        threshold=threshold,
        steps=_touching(measured.team, agents),
    )


def _loop(measured: _Measured) -> Finding:
    cycles = nesting_of(measured.team).cycles
    agents = sorted({call.callee for call in cycles})
    return _finding(
        "loop",
        f"{_count(len(cycles), 'call')} to {_names(agents)} repeated the arguments of a call that "
        "was still open above.",
        agents=agents,
        value=float(len(cycles)),
        threshold=0.0,
        steps=cycles,
    )


def _ping_pong(measured: _Measured) -> Finding:
    threshold = measured.thresholds.ping_pong_share
    reversals = reversals_of(measured.team)
    agents = sorted({end for call in reversals for end in (call.caller, call.callee)})
    return _finding(
        "ping_pong",
        f"{len(reversals)} of {len(measured.team.calls) - 1} handoffs among {_names(agents)} went "
        f"straight back to the previous caller (limit {_percent(threshold)}).",
        agents=agents,
        value=measured.value("ping_pong_share"),
        threshold=threshold,
        steps=reversals,
    )


def _duplicate_work(measured: _Measured) -> Finding:
    threshold = measured.thresholds.duplicate_share
    repeats = repeats_of(measured.team)
    agents = sorted({call.callee for call in repeats.duplicates})
    return _finding(
        "duplicate_work",
        f"{len(repeats.duplicates)} of {_count(repeats.known, 'call')} asked {_names(agents)} what "
        f"had been asked before, retries not counted (limit {_percent(threshold)}).",
        agents=agents,
        value=measured.value("duplicate_work"),
        threshold=threshold,
        steps=repeats.duplicates,
        details={"retries": float(len(repeats.retries))},
    )


def _silent_failure(measured: _Measured) -> Finding:
    failures = failures_of(measured.team)
    agents = sorted({call.callee for call in failures.silent})
    return _finding(
        "silent_failure",
        f"{len(failures.silent)} of {_count(len(failures.failed), 'failed call')} went unhandled "
        f"({_names(agents)}): no retry succeeded, and the step above did not fail.",
        agents=agents,
        value=float(len(failures.silent)),
        threshold=0.0,
        steps=failures.silent,
        details={"unknown": float(len(failures.unknown))},
    )


def _failed_member(measured: _Measured) -> Finding:
    agents = failed_members(measured.team)
    failed = set(agents)
    steps = [call for call in measured.team.calls if call.callee in failed]
    return _finding(
        "failed_member",
        f"Every call to {_names(agents)} failed ({len(steps)} in all).",
        agents=agents,
        value=float(len(agents)),
        steps=steps,
    )


def _distribution(measured: _Measured) -> Finding:
    threshold = measured.thresholds.healthy_density
    density = measured.value("density") or 0.0
    size, edges = len(measured.team.members), len(measured.team.weights)
    verdict = "spread" if exceeds(density, threshold) else "not spread"
    known, standing = _standing(measured.percentiles)
    return _finding(
        "distribution",
        f"The calls are {verdict} over the team: {size} members with {_count(edges, 'edge')}, "
        f"density {density:.3g} (limit {threshold:g}){known}"
        f"{_SMALL_TEAM if size <= _SMALL and verdict == 'spread' else ''}.",
        value=density,
        threshold=threshold,
        details={
            "verdict": verdict,
            "members": float(size),
            "edges": float(edges),
            **standing,
        },
    )


def _standing(percentiles: Mapping[str, Percentile]) -> tuple[str, dict[str, float | str]]:
    """Say where the team stands among random graphs of its degrees, as words and as details.

    Those all have its density, so what tells spread from concentrated among them is how uneven
    their betweenness is.
    """
    details: dict[str, float | str] = {}
    for name in ("density", _COMPARED):
        found = percentiles.get(name)
        if found is not None and found.value is not None:
            details[f"{name}_percentile"] = found.value
        elif found is not None:
            details[f"{name}_percentile_unknown"] = found.reason or "no reason given"
    compared = percentiles.get(_COMPARED)
    if compared is None or compared.value is None:
        return "", details
    share = _percent(compared.value)
    return f"; {share} of random graphs with the same degrees are no more centralized", details


_COMPARED = "betweenness_centralization"
_SMALL = 3
_SMALL_TEAM = "; so are they in any connected team of 3 or fewer"

_BUILDERS: Mapping[str, Callable[[_Measured], Finding]] = {
    "bottleneck": _bottleneck,
    "isolated_member": _isolated_agent,
    "disconnected": _disconnected,
    "over_centralized": _over_centralized,
    "loop": _loop,
    "ping_pong": _ping_pong,
    "duplicate_work": _duplicate_work,
    "silent_failure": _silent_failure,
    "failed_member": _failed_member,
    "distribution": _distribution,
}


def _finding(
    name: str,
    statement: str,
    *,
    agents: Sequence[str] = (),
    value: float | None = None,
    threshold: float | None = None,
    steps: Sequence[Call] = (),
    details: Mapping[str, float | str] | None = None,
) -> Finding:
    more = {"agents_in_all": float(len(agents))} if len(agents) > MOST_AGENTS else {}
    return Finding(
        name=name,
        statement=statement,
        agents=tuple(agents[:MOST_AGENTS]),
        value=value,
        threshold=threshold,
        step_ids=tuple(step.step_id for step in steps[:MOST_STEPS]),
        steps_in_all=len(steps),
        details={**(details or {}), **more},
    )


def _touching(team: Interactions, agents: Sequence[str]) -> list[Call]:
    """List the calls between two agents in which one of `agents` takes part."""
    among = set(agents)
    return [call for call in team.calls if call.caller in among or call.callee in among]


def _names(agents: Sequence[str]) -> str:
    """List the first few names, and how many more there are."""
    named = [_shown(agent) for agent in agents[:_NAMED]]
    if len(agents) > _NAMED:
        named.append(f"{len(agents) - _NAMED} more")
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1]))) if named else "nobody"


def _shown(name: str) -> str:
    """Return a name shortened, and quoted unless it is a plain word or address."""
    short = name if len(name) <= _NAME_CHARACTERS else name[: _NAME_CHARACTERS - 1] + "…"
    return short if _PLAIN.fullmatch(short) else repr(short)


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
