"""Robustness: the section about scores under injected faults."""

from __future__ import annotations

from dataclasses import dataclass

from adk_agent.results.report import EvaluationReport
from adk_agent.results.robustness_text import (
    ROBUSTNESS_LEGEND,
    consistency_line,
    consistency_table,
    robustness_notes,
    robustness_table,
)
from adk_agent.results.tables import Table


@dataclass(frozen=True, kw_only=True)
class Robustness:
    """The tables of the section, and what is said of them."""

    scores: Table
    notes: tuple[str, ...]
    legend: str
    consistency: Table | None
    of_consistency: str


def robustness(report: EvaluationReport) -> Robustness | None:
    """Return the section; None for a run without injected faults."""
    if not report.robustness:
        return None
    return Robustness(
        scores=robustness_table(report.robustness),
        notes=tuple(robustness_notes(report.robustness)),
        legend=ROBUSTNESS_LEGEND,
        consistency=consistency_table(report.reliability),
        of_consistency=consistency_line(report.reliability),
    )
