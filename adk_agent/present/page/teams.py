"""Teams: the graph of who called whom behind a participant, as a picture and as tables."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from adk_agent.present.page import texts
from adk_agent.present.page.gathered import Calls, Gathered, TeamCalls
from adk_agent.present.page.layout import Edge, Point, place
from adk_agent.results import tables
from adk_agent.results.report import EvaluationReport
from adk_agent.results.team_summary import TeamRow
from evals.trace import ASSESSOR

MOST_DRAWN = 40
"""Agents of one picture: those with the highest load."""
MOST_LABELS = 24
"""Connections up to which each bears its number of calls."""
MOST_ROWS = 200
_MARGIN = 74.0
_TOP, _BOTTOM = 36.0, 58.0
_SMALLEST, _LARGEST = 13.0, 30.0
Seen = Literal["observed", "reported", "both"]


@dataclass(frozen=True, kw_only=True)
class Agent:
    """An agent of a team."""

    name: str
    label: str
    load: int
    """Calls of other agents to it, of the assessor too."""
    made: int
    failed: int
    """Failed calls to it."""
    weak: str
    """The findings about it, with the number of trials; empty for most."""
    assessor: bool
    idle: bool
    x: float = 0.0
    y: float = 0.0
    r: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Calls from one agent to another."""

    caller: str
    callee: str
    calls: int
    reported: int
    failed: int
    seen: Seen
    path: str = ""
    width: float = 1.0
    label_x: float = 0.0
    label_y: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Team:
    """The team of one participant in one domain."""

    participant: str
    domain: str
    trials: int
    summary: str
    judged: str
    """Its labels, its judgement with any doubt about that, and what may have been missed."""
    agents: tuple[Agent, ...]
    connections: tuple[Connection, ...]
    drawn_agents: tuple[Agent, ...]
    drawn: tuple[Connection, ...]
    labelled: bool
    width: float
    height: float
    not_listed: int


@dataclass(frozen=True, kw_only=True)
class Teams:
    """The teams that can be drawn, and the participants that have none, each with the reason."""

    drawn: tuple[Team, ...]
    alone: tuple[tuple[str, str], ...]

    @property
    def not_drawn(self) -> list[str]:
        """Say for each reason why there is no team, and whose it would be."""
        names: dict[str, list[str]] = {}
        for why, name in self.alone:
            names.setdefault(why, []).append(name)
        return [f"{why} This holds for {'; '.join(each)}." for why, each in names.items()]


def teams(report: EvaluationReport, found: Gathered) -> Teams:
    """Return the teams behind all participants, in the order of the plan."""
    drawn, alone = [], []
    rows = {(row.participant, row.domain): row for row in report.teams}
    for participant in report.plan.participants:
        for planned in report.plan.tasks:
            name, domain = participant.address, planned.domain
            seen = found.teams.get((name, domain))
            if seen is None:
                continue
            if not _coordinates(seen):
                alone.append((_why_alone(rows.get((name, domain))), f"{name} in {domain}"))
            else:
                row = rows.get((name, domain))
                drawn.append(_team(name, domain, seen, "" if row is None else _judged(row)))
    return Teams(drawn=tuple(drawn), alone=tuple(alone))


_ALONE = "only one agent was visible; see docs/visible-teams.md"
"""The reason where no evaluator looked at the calls."""


def _coordinates(seen: TeamCalls) -> bool:
    """Tell whether an agent called another one, apart from the assessor."""
    return any(
        caller != callee and ASSESSOR not in (caller, callee) for caller, callee in seen.edges
    )


def _why_alone(row: TeamRow | None) -> str:
    reasons = () if row is None else tuple(row.not_measured)
    return tables.not_measured_sentence(reasons[0] if reasons else _ALONE)


def _judged(row: TeamRow) -> str:
    """Return the labels of a team, its judgement, and what may have been missed of it."""
    named = tables.labels(row)
    parts = [f"Labels: {named}." if named else "", _score(row), *tables.sight_lines([row])]
    return " ".join(filter(None, parts))


def _score(row: TeamRow) -> str:
    if row.judged is None:
        return ""
    told = f"Judged {tables.number(row.judged)} by {', '.join(row.judged_by)}"
    if row.judged_by_rules is not None:
        told += f", {tables.number(row.judged_by_rules)} by rules"
    doubts = tables.doubt(row)
    return f"{told}.{'' if doubts is None else f' {doubts}'}"


def _team(participant: str, domain: str, seen: TeamCalls, judged: str) -> Team:
    agents = _agents(seen)
    connections = _connections(seen.edges)
    kept = agents[:MOST_DRAWN]
    drawn_agents, drawn, size = _drawn(kept, connections)
    calls = sum(each.calls for each in connections if each.caller != ASSESSOR)
    reported = sum(each.reported for each in connections if each.caller != ASSESSOR)
    members = len([agent for agent in agents if not agent.assessor])
    weak = [f"{agent.name} ({agent.weak})" for agent in agents if agent.weak][:MOST_DRAWN]
    summary = (
        f"{texts.count(members, 'agent')}, {texts.count(calls, 'call')} between them in "
        f"{texts.count(seen.trials, 'trial')}"
        f"{f', {reported:,} of them reported and not seen' if reported else ''}"
        f"{'; weak spots: ' + ', '.join(weak) if weak else ''}."
    )
    return Team(
        participant=participant,
        domain=domain,
        trials=seen.trials,
        summary=summary,
        judged=judged,
        agents=tuple(agents[:MOST_ROWS]),
        connections=connections[:MOST_ROWS],
        drawn_agents=drawn_agents,
        drawn=drawn,
        labelled=len(drawn) <= MOST_LABELS,
        width=size[0],
        height=size[1],
        not_listed=max(0, len(agents) - MOST_ROWS) + max(0, len(connections) - MOST_ROWS),
    )


def _agents(seen: TeamCalls) -> list[Agent]:
    """All agents, the assessor first, then by falling load and name."""
    load, made, failed = Counter[str](), Counter[str](), Counter[str]()
    for (caller, callee), calls in seen.edges.items():
        load[callee] += calls.calls
        made[caller] += calls.calls
        failed[callee] += calls.failed
    found = [
        Agent(
            name=name,
            label=texts.short(name.removeprefix("http://").removeprefix("https://"), 18),
            load=load[name],
            made=made[name],
            failed=failed[name],
            weak=_weak(name, seen),
            assessor=name == ASSESSOR,
            idle=not load[name] and not made[name],
        )
        for name in {name for edge in seen.edges for name in edge} | seen.members
    ]
    return sorted(found, key=lambda agent: (not agent.assessor, -agent.load, agent.name))


def _weak(name: str, seen: TeamCalls) -> str:
    spots = sorted(
        (what, times) for (what, agent), times in seen.weak_spots.items() if agent == name
    )
    return ", ".join(
        f"{what.replace('_', '-')} in {times} of {texts.count(seen.trials, 'trial')}"
        for what, times in spots
    )


def _connections(edges: Mapping[Edge, Calls]) -> tuple[Connection, ...]:
    ordered = sorted(edges.items(), key=lambda item: (-item[1].calls, item[0]))
    return tuple(
        Connection(
            caller=caller,
            callee=callee,
            calls=calls.calls,
            reported=calls.calls - calls.observed,
            failed=calls.failed,
            seen=_seen(calls),
        )
        for (caller, callee), calls in ordered
    )


def _seen(calls: Calls) -> Seen:
    if calls.observed == calls.calls:
        return "observed"
    return "both" if calls.observed else "reported"


def _drawn(
    agents: Sequence[Agent], connections: Sequence[Connection]
) -> tuple[tuple[Agent, ...], tuple[Connection, ...], tuple[float, float]]:
    names = [agent.name for agent in agents]
    known = set(names)
    inside = [each for each in connections if each.caller in known and each.callee in known]
    edges = [(each.caller, each.callee) for each in inside]
    root = ASSESSOR if any(caller == ASSESSOR for caller, _ in edges) else None
    spots = _moved_to_margins(place(names, edges, root))
    heaviest = max((agent.load for agent in agents), default=0) or 1
    placed = {agent.name: _placed(agent, spots[agent.name], heaviest) for agent in agents}
    most = max((each.calls for each in inside), default=1)
    both_ways = set(edges)
    lines = tuple(
        _line(
            each,
            placed[each.caller],
            placed[each.callee],
            most=most,
            curved=(each.callee, each.caller) in both_ways,
        )
        for each in inside
        if each.caller != each.callee
    )
    width = max((agent.x for agent in placed.values()), default=0.0) + _MARGIN
    height = max((agent.y for agent in placed.values()), default=0.0) + _BOTTOM
    return tuple(placed.values()), lines, (round(width, 1), round(height, 1))


def _moved_to_margins(spots: Mapping[str, Point]) -> dict[str, Point]:
    left = min((x for x, _ in spots.values()), default=0.0)
    top = min((y for _, y in spots.values()), default=0.0)
    return {name: (x - left + _MARGIN, y - top + _TOP) for name, (x, y) in spots.items()}


def _placed(agent: Agent, spot: Point, heaviest: int) -> Agent:
    radius = _SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(agent.load / heaviest)
    x, y = (round(each, 1) for each in spot)
    return replace(agent, x=x, y=y, r=_SMALLEST if agent.assessor else round(radius, 1))


def _line(each: Connection, a: Agent, b: Agent, *, most: int, curved: bool) -> Connection:
    """Return the connection with its path from rim to rim, bent where there is one back."""
    dx, dy = b.x - a.x, b.y - a.y
    length = math.hypot(dx, dy) or 1.0
    ux, uy = dx / length, dy / length
    bend = 22.0 if curved else 0.0
    middle = ((a.x + b.x) / 2 - uy * bend, (a.y + b.y) / 2 + ux * bend)
    begin = _towards(a, middle, a.r + 2)
    end = _towards(b, middle, b.r + 7)
    share = math.log1p(each.calls) / math.log1p(most)
    return replace(
        each,
        path=f"M{begin[0]:.1f} {begin[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}",
        width=round(1.2 + 3.3 * share, 2),
        label_x=round(0.25 * begin[0] + 0.5 * middle[0] + 0.25 * end[0], 1),
        label_y=round(0.25 * begin[1] + 0.5 * middle[1] + 0.25 * end[1], 1),
    )


def _towards(agent: Agent, point: Point, distance: float) -> Point:
    dx, dy = point[0] - agent.x, point[1] - agent.y
    length = math.hypot(dx, dy) or 1.0
    return agent.x + dx / length * distance, agent.y + dy / length * distance
