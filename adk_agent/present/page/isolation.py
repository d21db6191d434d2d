"""Isolation: the section about what agents told of other conversations."""

from __future__ import annotations

from dataclasses import dataclass

from adk_agent.results.isolation import isolation_line, isolation_notes, shown_isolation
from adk_agent.results.report import EvaluationReport
from evals.leaks.model import Leak


@dataclass(frozen=True, kw_only=True)
class AgentIsolation:
    """The findings about one agent."""

    participant: str
    line: str
    leaks: tuple[Leak, ...]
    more: int
    notes: tuple[str, ...]


def isolation(report: EvaluationReport) -> tuple[AgentIsolation, ...]:
    """Return what was found of each agent that was probed or that leaked."""
    return tuple(
        AgentIsolation(
            participant=row.participant,
            line=isolation_line(row),
            leaks=row.leaks,
            more=row.more,
            notes=tuple(isolation_notes(row)),
        )
        for row in shown_isolation(report.isolation)
    )
