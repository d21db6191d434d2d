"""Scores over time: for each agent in a domain its runs in order, as a table and a picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from adk_agent.site.overview import RunLine, ScoreLine

MOST_POINTS = 40
"""Runs of one agent that are drawn, the latest ones; the table has all."""
WIDTH, HEIGHT = 640, 180
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 16, 12, 26


@dataclass(frozen=True, kw_only=True)
class Point:
    """A score in the picture, in its units."""

    x: float
    y: float
    low: float | None
    high: float | None
    line: RunLine
    score: ScoreLine


@dataclass(frozen=True, kw_only=True)
class Series:
    """One figure of one agent in one domain, the earliest run first."""

    agent: str
    domain: str
    figure: str
    rows: tuple[tuple[RunLine, ScoreLine], ...]
    points: tuple[Point, ...]

    @property
    def path(self) -> str:
        """The points of the line."""
        return " ".join(f"{point.x:g},{point.y:g}" for point in self.points)


def height_of(value: float) -> float:
    """Return where a score from 0 to 1 stands in the picture."""
    return round(_TOP + (1 - value) * (HEIGHT - _TOP - _BOTTOM), 1)


def history(runs: Sequence[RunLine], *, words: str = "") -> list[Series]:
    """Return the series of all agents, those with the most runs first.

    Args:
        runs: All runs; copies of others are left out.
        words: Each stands in the agent or the domain.
    """
    wanted = words.casefold().split()
    found: dict[tuple[str, str, str], list[tuple[RunLine, ScoreLine]]] = defaultdict(list)
    originals = [run for run in runs if not run.is_copy]
    for run in sorted(originals, key=lambda each: (each.started_at, each.run_id)):
        for score in run.scores:
            text = f"{score.agent} {score.domain} {score.figure}".casefold()
            if score.value is not None and all(word in text for word in wanted):
                found[score.agent, score.domain, score.figure].append((run, score))
    series = [
        Series(
            agent=agent,
            domain=domain,
            figure=figure,
            rows=tuple(rows),
            points=_points(rows[-MOST_POINTS:]),
        )
        for (agent, domain, figure), rows in found.items()
    ]
    return sorted(series, key=lambda each: (-len(each.rows), each.agent, each.domain, each.figure))


def _points(rows: Sequence[tuple[RunLine, ScoreLine]]) -> tuple[Point, ...]:
    """Place runs at equal distances: weeks may lie between two, and minutes between others."""
    room = WIDTH - _LEFT - _RIGHT
    step = room / max(1, len(rows) - 1)
    return tuple(
        Point(
            x=round(_LEFT + (room / 2 if len(rows) == 1 else number * step), 1),
            y=height_of(score.value),
            low=None if score.interval is None else height_of(score.interval.low),
            high=None if score.interval is None else height_of(score.interval.high),
            line=line,
            score=score,
        )
        for number, (line, score) in enumerate(rows)
        if score.value is not None
    )
