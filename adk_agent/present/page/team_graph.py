"""team_graph: the agents of a team and their calls, placed in a picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from adk_agent.present.page import texts
from adk_agent.present.page.graph_labels import (
    LINE_HEIGHT,
    NAME_CHAR,
    Box,
    Curve,
    place_labels,
    text_box,
)
from adk_agent.present.page.layout import STEP, Point, place
from evals.trace import ASSESSOR

MOST_LABELS = 36
"""Connections up to which each bears a label."""
SMALL_TEAM = 6
"""Members up to which a label has all figures, with as much room as they need."""
_SPREADS = (1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 2.25, 2.5)
_TALL = 1.2
"""Stretches pictures with labels downwards, where names and labels stand between two layers."""
_MARGIN = 12.0
_SMALLEST, _LARGEST = 13.0, 30.0
_BEND = 34.0
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

    @property
    def name_y(self) -> float:
        """Return where the line of its name stands."""
        return round(self.y + self.r + (20 if self.weak else 15), 1)


@dataclass(frozen=True, kw_only=True)
class Connection:
    """Calls from one agent to another."""

    caller: str
    callee: str
    calls: int
    reported: int
    failed: int
    seen: Seen
    median_ms: float | None
    """Median time of the calls that did not fail."""
    p95_ms: float | None = None
    """Their 95th percentile; None for a few calls."""
    tokens: int | None
    with_tokens: int
    """Calls whose tokens are known."""
    cost: float | None
    """In US dollars."""
    path: str = ""
    width: float = 1.0
    label: tuple[str, ...] = ()
    """The lines of its label; none where there is no room."""
    label_x: float = 0.0
    label_y: float = 0.0

    @property
    def figures(self) -> str:
        """Return all figures in words."""
        parts = [texts.count(self.calls, "call")]
        parts += [f"{self.reported} reported"] if self.reported else []
        parts += [f"median {texts.duration(self.median_ms)}"] if self.median_ms is not None else []
        parts += [f"p95 {texts.duration(self.p95_ms)}"] if self.p95_ms is not None else []
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        return ", ".join(parts)


@dataclass(frozen=True, kw_only=True)
class Picture:
    """The picture of a team."""

    agents: tuple[Agent, ...]
    connections: tuple[Connection, ...]
    left: float
    top: float
    width: float
    height: float


def team_graph(agents: Sequence[Agent], connections: Sequence[Connection]) -> Picture:
    """Draw agents and the connections between them.

    Members up to `SMALL_TEAM` are moved apart until every label has room for all its figures. In
    larger teams a label has the number of calls, or is left out where it would cover something.
    """
    names = {agent.name for agent in agents}
    inside = [
        each
        for each in connections
        if each.caller in names and each.callee in names and each.caller != each.callee
    ]
    if len(inside) > MOST_LABELS:
        return _spread(agents, inside, 1.0, [() for _ in inside])
    small = sum(not agent.assessor for agent in agents) <= SMALL_TEAM
    labels = [_label(each) if small else _label(each)[:1] for each in inside]
    for spread in _SPREADS if small else _SPREADS[:1]:
        picture = _spread(agents, inside, spread, labels)
        if all(each.label for each in picture.connections):
            break
    return picture


def _label(each: Connection) -> tuple[str, ...]:
    """Return the lines of a label: the calls with their time, then failures and tokens."""
    time = f" {texts.duration(each.median_ms)}" if each.median_ms is not None else ""
    more = [f"{each.failed} failed"] if each.failed else []
    more += [f"{texts.rounded(each.tokens)} tokens"] if each.tokens is not None else []
    return (f"{each.calls}×{time}", *more)


def _spread(
    agents: Sequence[Agent],
    inside: Sequence[Connection],
    spread: float,
    labels: Sequence[tuple[str, ...]],
) -> Picture:
    edges = [(each.caller, each.callee) for each in inside]
    root = ASSESSOR if any(caller == ASSESSOR for caller, _ in edges) else None
    spots = place([agent.name for agent in agents], edges, root)
    longest = max((len(agent.label) for agent in agents), default=0) * NAME_CHAR
    wide, tall = spread * max(1.0, (longest + 12) / STEP), spread * (_TALL if any(labels) else 1.0)
    heaviest = max((agent.load for agent in agents), default=0) or 1
    placed = {
        agent.name: _placed(agent, spots[agent.name], wide, tall, heaviest) for agent in agents
    }
    curves = [_curve(placed[a], placed[b], _BEND if (b, a) in edges else 0.0) for a, b in edges]
    taken = [box for agent in placed.values() for box in _boxes(agent)]
    centres = place_labels(curves, labels, taken)
    most = max((each.calls for each in inside), default=1)
    drawn = tuple(
        _drawn(each, curve, label, centre, most)
        for each, curve, label, centre in zip(inside, curves, labels, centres, strict=True)
    )
    taken += [text_box(c.label_x, c.label_y, c.label) for c in drawn if c.label]
    taken += [Box(x=x, y=y, width=0, height=0) for x, y in (curve.at(0.5) for curve in curves)]
    return _framed(tuple(placed.values()), drawn, taken)


def _framed(
    agents: tuple[Agent, ...], drawn: tuple[Connection, ...], boxes: Sequence[Box]
) -> Picture:
    left = min((box.x - box.width / 2 for box in boxes), default=0.0) - _MARGIN
    right = max((box.x + box.width / 2 for box in boxes), default=0.0) + _MARGIN
    top = min((box.y - box.height / 2 for box in boxes), default=0.0) - _MARGIN
    bottom = max((box.y + box.height / 2 for box in boxes), default=0.0) + _MARGIN
    return Picture(
        agents=agents,
        connections=drawn,
        left=round(left, 1),
        top=round(top, 1),
        width=round(right - left, 1),
        height=round(bottom - top, 1),
    )


def _placed(agent: Agent, spot: Point, wide: float, tall: float, heaviest: int) -> Agent:
    radius = _SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(agent.load / heaviest)
    return replace(
        agent,
        x=round(spot[0] * wide, 1),
        y=round(spot[1] * tall, 1),
        r=_SMALLEST if agent.assessor else round(radius, 1),
    )


def _boxes(agent: Agent) -> list[Box]:
    """Return what an agent covers: its mark and its name."""
    side = 2 * agent.r + (12 if agent.weak else 2)
    mark = Box(x=agent.x, y=agent.y, width=side, height=side)
    if agent.assessor:
        width = len("assessor") * NAME_CHAR
        beside = Box(
            x=agent.x + agent.r + 7 + width / 2, y=agent.y, width=width, height=LINE_HEIGHT
        )
        return [mark, beside]
    return [mark, text_box(agent.x, agent.name_y - 4, [agent.label], NAME_CHAR)]


def _curve(a: Agent, b: Agent, bend: float) -> Curve:
    """Return the line from rim to rim, bent where there is one back."""
    dx, dy = b.x - a.x, b.y - a.y
    length = math.hypot(dx, dy) or 1.0
    middle = (a.x + b.x) / 2 - dy / length * bend, (a.y + b.y) / 2 + dx / length * bend
    return Curve(
        begin=_towards(a, middle, a.r + 2), middle=middle, end=_towards(b, middle, b.r + 7)
    )


def _drawn(
    each: Connection, curve: Curve, label: tuple[str, ...], centre: Point | None, most: int
) -> Connection:
    begin, middle, end = curve.begin, curve.middle, curve.end
    path = (
        f"M{begin[0]:.1f} {begin[1]:.1f}Q{middle[0]:.1f} {middle[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    )
    width = round(1.2 + 3.3 * math.log1p(each.calls) / math.log1p(most), 2)
    if centre is None:
        return replace(each, path=path, width=width)
    return replace(each, path=path, width=width, label=label, label_x=centre[0], label_y=centre[1])


def _towards(agent: Agent, point: Point, distance: float) -> Point:
    dx, dy = point[0] - agent.x, point[1] - agent.y
    length = math.hypot(dx, dy) or 1.0
    return agent.x + dx / length * distance, agent.y + dy / length * distance
