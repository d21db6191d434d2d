"""Thresholds, and findings: what somebody should look at, with the steps that show it."""

from __future__ import annotations

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


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Where findings and labels begin. Printed with every result."""

    bottleneck_betweenness: float = 0.5
    """Above: bottleneck (on the undirected projection, normalised)."""
    over_centralized_share: float = 0.7
    """Above: one agent touches too many of the calls."""
    healthy_density: float = 0.3
    """Above: the calls are spread."""
    hub_centralization: float = 0.7
    hub_members: int = 4
    balanced_gini: float = 0.2
    balanced_centralization: float = 0.2
    ping_pong_share: float = 0.5
    ping_pong_calls: int = 4
    duplicate_share: float = 0.1


class Finding(BaseModel):
    """Something about the team that somebody should look at, with the steps that show it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """In snake_case, for example `bottleneck`."""
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
    """Whether a figure is greater than a threshold, by more than the error of computing it."""
    return figure > threshold + _EQUAL_WITHIN


def findings_of(
    team: Interactions,
    values: Mapping[str, MetricValue],
    labels: Iterable[str],
    thresholds: Thresholds,
    *,
    percentiles: Mapping[str, Percentile] | None = None,
) -> tuple[Finding, ...]:
    """What to look at in a team, always in the same order.

    `distribution` is among them wherever density is defined. All others hold together with the
    label of the same meaning.

    Args:
        team: The interactions.
        values: What the metrics came to, by name.
        labels: What `evals.graph.labels.labels_of` made of the same.
        thresholds: Where findings begin.
        percentiles: Where the team stands among random graphs, by metric.
    """
    seen = _Seen(
        team=team, values=values, thresholds=thresholds, percentiles=dict(percentiles or {})
    )
    given = {*labels, *({"distribution"} if seen.value("density") is not None else ())}
    return tuple(make(seen) for label, make in _MAKERS.items() if label in given)


@dataclass(frozen=True, kw_only=True)
class _Seen:
    team: Interactions
    values: Mapping[str, MetricValue]
    thresholds: Thresholds
    percentiles: Mapping[str, Percentile]

    def value(self, metric: str) -> float | None:
        found = self.values.get(metric)
        return None if found is None else found.value

    def above(self, metric: str, threshold: float) -> list[str]:
        """The agents for which a metric exceeds a threshold, the highest first."""
        found = self.values.get(metric)
        by_agent = (found.agents if found is not None else None) or {}
        agents = [agent for agent, figure in by_agent.items() if exceeds(figure, threshold)]
        return sorted(agents, key=lambda agent: (-by_agent[agent], agent))


def _bottleneck(seen: _Seen) -> Finding:
    threshold = seen.thresholds.bottleneck_betweenness
    agents = seen.above("betweenness", threshold)
    return _finding(
        "bottleneck",
        f"{_names(agents)}: betweenness above {threshold:g}, at most "
        f"{_figure(seen.value('betweenness'))}, so most of the shortest ways between the others "
        "lead through there.",
        agents=agents,
        value=seen.value("betweenness"),
        threshold=threshold,
        steps=_touching(seen.team, agents),
    )


def _isolated_agent(seen: _Seen) -> Finding:
    agents = isolated_members(seen.team)
    alone = set(agents)
    steps = [step for step in seen.team.steps if step.caller in alone or step.callee in alone]
    active = {end for step in steps for end in (step.caller, step.callee)} & alone
    return _finding(
        "isolated_agent",
        f"{_names(agents)}: no call to or from any other of the {len(seen.team.members)} members; "
        f"{len(alone - active)} of {len(alone)} took no part in any step.",
        agents=agents,
        value=float(len(agents)),
        steps=steps,
        details={"idle": float(len(alone - active))},
    )


def _disconnected(seen: _Seen) -> Finding:
    groups = groups_of(seen.team)
    group_of = {agent: at for at, group in enumerate(groups) for agent in group}
    first = {group_of[call.caller]: call for call in reversed(seen.team.calls)}
    named = "; ".join(_names(group) for group in groups[:_NAMED])
    more = f"; and {_count(len(groups) - _NAMED, 'more group')}" if len(groups) > _NAMED else ""
    return _finding(
        "disconnected",
        f"{len(groups)} groups with calls inside and none between them: {named}{more}.",
        agents=[agent for group in groups for agent in group],
        value=float(len(groups)),
        threshold=1.0,
        steps=[first[at] for at in range(len(groups))],
    )


def _over_centralized(seen: _Seen) -> Finding:
    threshold = seen.thresholds.over_centralized_share
    agents = seen.above("interaction_share", threshold)
    return _finding(
        "over_centralized",
        f"{_names(agents)}: part in more than {threshold:.0%} of the {len(seen.team.calls)} calls "
        f"between agents, at most {_figure(seen.value('interaction_share'))} of them.",
        agents=agents,
        value=seen.value("interaction_share"),
        threshold=threshold,
        steps=_touching(seen.team, agents),
    )


def _loop(seen: _Seen) -> Finding:
    cycles = nesting_of(seen.team).cycles
    agents = sorted({call.callee for call in cycles})
    return _finding(
        "loop",
        f"{_names(agents)}: {_count(len(cycles), 'call')} with the arguments of a call that was "
        "still open above.",
        agents=agents,
        value=float(len(cycles)),
        threshold=0.0,
        steps=cycles,
    )


def _ping_pong(seen: _Seen) -> Finding:
    threshold = seen.thresholds.ping_pong_share
    reversals = reversals_of(seen.team)
    agents = sorted({end for call in reversals for end in (call.caller, call.callee)})
    return _finding(
        "ping_pong",
        f"{_names(agents)}: {len(reversals)} of {len(seen.team.calls) - 1} handoffs go straight "
        f"back to whoever made the one before, {threshold:.0%} or more.",
        agents=agents,
        value=seen.value("ping_pong_share"),
        threshold=threshold,
        steps=reversals,
    )


def _duplicate_work(seen: _Seen) -> Finding:
    threshold = seen.thresholds.duplicate_share
    repeats = repeats_of(seen.team)
    agents = sorted({call.callee for call in repeats.duplicates})
    return _finding(
        "duplicate_work",
        f"{_names(agents)}: {len(repeats.duplicates)} of {_count(repeats.known, 'call')} ask what "
        f"was asked before, retries of failed calls apart; {threshold:.0%} or more.",
        agents=agents,
        value=seen.value("duplicate_work"),
        threshold=threshold,
        steps=repeats.duplicates,
        details={"retries": float(len(repeats.retries))},
    )


def _silent_failure(seen: _Seen) -> Finding:
    failures = failures_of(seen.team)
    agents = sorted({call.callee for call in failures.silent})
    return _finding(
        "silent_failure",
        f"{_names(agents)}: {len(failures.silent)} of {_count(len(failures.failed), 'failed call')}"
        " neither repeated with success nor followed by the failure of the step above.",
        agents=agents,
        value=float(len(failures.silent)),
        threshold=0.0,
        steps=failures.silent,
        details={"unknown": float(len(failures.unknown))},
    )


def _failed_member(seen: _Seen) -> Finding:
    agents = failed_members(seen.team)
    failed = set(agents)
    steps = [call for call in seen.team.agent_calls if call.callee in failed]
    return _finding(
        "failed_member",
        f"{_names(agents)}: every call received failed, {len(steps)} in all.",
        agents=agents,
        value=float(len(agents)),
        steps=steps,
    )


def _distribution(seen: _Seen) -> Finding:
    threshold = seen.thresholds.healthy_density
    density = seen.value("density") or 0.0
    size, edges = len(seen.team.members), len(seen.team.weights)
    verdict = "spread" if exceeds(density, threshold) else "not spread"
    known, standing = _standing(seen.percentiles)
    return _finding(
        "distribution",
        f"Density {density:.3g} of {size} members with {_count(edges, 'edge')} is "
        f"{'above' if verdict == 'spread' else 'not above'} {threshold:g}: the calls are {verdict} "
        f"over the team{known}{_SMALL_TEAM if size <= _SMALL and verdict == 'spread' else ''}.",
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
    """Where the team stands among random graphs of its degrees, as words and as details.

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
    words = (
        f"; of random graphs with the same degrees, {compared.value:.0%} are no more centralized"
    )
    return words, details


_COMPARED = "betweenness_centralization"
_SMALL = 3
_SMALL_TEAM = " (as in any team of 3 or fewer that is connected)"

_MAKERS: Mapping[str, Callable[[_Seen], Finding]] = {
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
    """The calls between two agents in which one of `agents` takes part."""
    among = set(agents)
    return [call for call in team.calls if call.caller in among or call.callee in among]


def _names(agents: Sequence[str]) -> str:
    """The first few names, quoted and shortened, and how many more there are."""
    named = ", ".join(repr(_shortened(agent)) for agent in agents[:_NAMED])
    return named + (f" and {len(agents) - _NAMED} more" if len(agents) > _NAMED else "")


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_CHARACTERS else name[: _NAME_CHARACTERS - 1] + "…"


def _figure(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
