"""The gate of `--fail-under`: the exit code that a finished run's scores mean."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from adk_agent.cli.edge import GATE_FAILED, INCOMPLETE, OK
from adk_agent.printable import printable
from adk_agent.report import EvaluationReport
from adk_agent.summary import CEILING, FLOOR, OverallRow, SummaryRow

REFERENCES = (FLOOR, CEILING)
"""Agents that mark the ends of the scale; nobody works on them."""


def exit_code(report: EvaluationReport, fail_under: float | None) -> int:
    """The exit code of a run, whose reasons are told on stderr.

    Args:
        report: Of the run.
        fail_under: The lowest pass^1 that every agent has to reach; None demands nothing.

    Returns:
        3 for a run that is not complete, and where an agent has no score to compare: nothing is
        decided then, whatever the other scores are. 1 where an agent's pass^1 is below. Else 0.
    """
    complete = report.status == "complete"
    if fail_under is None:
        return OK if complete else INCOMPLETE
    codes = []
    for row in gated_rows(report):
        code, verdict = _judged(row, fail_under)
        codes.append(code)
        _tell(f"{row.participant} in {_where(row)}: {verdict}")
    if not complete:
        _tell(f"not decided, for the run is {report.status}")
    return INCOMPLETE if not complete or INCOMPLETE in codes else max(codes, default=OK)


def gated_rows(report: EvaluationReport) -> Sequence[OverallRow | SummaryRow]:
    """One row for each agent that has to reach the bound: over all domains where there are several.

    The agents that mark floor and ceiling are left out where they stand beside others.
    """
    rows: Sequence[OverallRow | SummaryRow] = report.overall or report.summary
    agents = [row for row in rows if row.participant not in REFERENCES]
    return agents or rows


def _judged(row: OverallRow | SummaryRow, bound: float) -> tuple[int, str]:
    score = row.pass_hat_k.get("1")
    if score is None:
        missing = f"{row.unscored} unscored and {row.failed} failed trials"
        return INCOMPLETE, f"not decided, for no trial has a score ({missing})"
    interval = row.intervals.get("1")
    shown = f"pass^1 {score:.3f}"
    if interval is not None:
        shown += f" (95 % interval {interval.low:.3f} to {interval.high:.3f})"
    verdict = "is below" if score < bound else "reaches"
    told = f"{shown} {verdict} {bound:g}"
    if interval is not None and interval.low < bound < interval.high:
        told += "; the interval holds the bound, so more tasks may turn this"
    return GATE_FAILED if score < bound else OK, told


def _where(row: OverallRow | SummaryRow) -> str:
    return row.domain if isinstance(row, SummaryRow) else f"{len(row.domains)} domains"


def _tell(text: str) -> None:
    print(printable(f"greenroom: --fail-under: {text}"), file=sys.stderr)
