"""Scores: the rows of the page's tables, and where their marks stand in the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adk_agent.present.page import texts
from adk_agent.results.agent_usage import AgentUsage
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import OverallRow, ReferenceScore, ScoreRow, SummaryRow
from adk_agent.results.tables import OVERALL, counted, domain_label
from evals.statistics import Interval


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A pass^k or a headline: as text, and in percent of the picture's width."""

    k: int
    name: str
    value: str
    interval: str
    at: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The floor or the ceiling of a row."""

    agent: str
    value: str
    at: float | None
    note: str
    """A remark; empty where it covers all tasks."""


@dataclass(frozen=True, kw_only=True)
class Score:
    """The score of one participant over some tasks."""

    participant: str
    domain: str
    row: ScoreRow
    estimates: tuple[Estimate, ...]
    shown: tuple[Estimate, ...]
    """The first and the last k, which the picture shows."""
    floor: Reference | None
    ceiling: Reference | None
    above_floor: str
    above_floor_interval: str
    user: str
    repairs: str
    """The repairs of replies, by kind."""
    agent_usage: AgentUsage | None
    """As the agent reports it of its own models; None if it reports no tokens and no cost."""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A headline of one participant in a picture, drawn as a score is."""

    participant: str
    domain: str
    shown: tuple[Estimate]
    floor: Reference | None
    ceiling: Reference | None


def scores(report: EvaluationReport, *, by_headlines: bool = False) -> tuple[Score, ...]:
    """Return a participant's rows together: over all domains first, then each domain.

    Args:
        report: The report.
        by_headlines: Include domains whose headlines replace pass^k; they have no estimates.
    """
    rows: tuple[OverallRow | SummaryRow, ...] = (
        *report.overall,
        *(row for row in report.summary if by_headlines or not row.by_headlines),
    )
    return tuple(
        _score(row, "all domains" if (label := domain_label(row, rows)) == OVERALL else label)
        for participant in report.plan.participants
        for row in rows
        if row.participant == participant.address
    )


def headline_marks(report: EvaluationReport) -> tuple[Mark, ...]:
    """Return the headlines that have a value, those of a participant together."""
    return tuple(
        Mark(
            participant=row.participant,
            domain=row.domain,
            shown=(_estimate(1, row.name, *row.ends, row.interval),),
            floor=_at("an agent that does nothing", row.floor),
            ceiling=_at("the tasks' own solutions", row.ceiling),
        )
        for participant in report.plan.participants
        for row in report.headlines
        if row.participant == participant.address and row.ends is not None
    )


def most_telling(rows: Sequence[Score], participant: str) -> Score | None:
    """Return the row that a verdict speaks of: over all domains, where there are several."""
    return next((row for row in rows if row.participant == participant), None)


def _score(row: OverallRow | SummaryRow, domain: str) -> Score:
    estimates = tuple(
        _estimate(int(k), f"pass^{k}", value, row.high(k), row.intervals.get(k))
        for k, value in row.pass_hat_k.items()
    )
    shown = (estimates[0], estimates[-1]) if len(estimates) > 1 else estimates
    over = row.above_floor_interval
    return Score(
        participant=row.participant,
        domain=domain,
        row=row,
        estimates=estimates,
        shown=shown,
        floor=_reference(row.floor),
        ceiling=_reference(row.ceiling),
        above_floor=texts.score(row.above_floor, signed=True),
        above_floor_interval=""
        if over is None
        else texts.interval(over.low, over.high, signed=True),
        user=row.user if isinstance(row, SummaryRow) else "",
        repairs=counted(row.repair_kinds),
        agent_usage=row.agent_usage
        if row.agent_usage is not None and row.agent_usage.trials
        else None,
    )


def _estimate(
    k: int, name: str, value: float | None, high: float | None, interval: Interval | None
) -> Estimate:
    return Estimate(
        k=k,
        name=name,
        value=texts.score(value)
        if high in (None, value)
        else f"{texts.score(value)} to {texts.score(high)}",
        interval="" if interval is None else texts.interval(interval.low, interval.high),
        at=_percent(value),
        low=None if interval is None else _percent(interval.low),
        high=None if interval is None else _percent(interval.high),
    )


def _reference(found: ReferenceScore | None) -> Reference | None:
    if found is None:
        return None
    missing = texts.count(found.missing, "task") if found.missing else ""
    return Reference(
        agent=found.agent,
        value=texts.score(found.over_all),
        at=_percent(found.over_all),
        note=f"not known for {missing}" if missing else "",
    )


def _at(agent: str, value: float | None) -> Reference | None:
    if value is None:
        return None
    return Reference(agent=agent, value=texts.score(value), at=_percent(value), note="")


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 2)
