"""score_picture: the scores of a run as one SVG image, for interfaces that show images."""

from __future__ import annotations

from dataclasses import dataclass

from adk_agent.present.page.document import environment
from adk_agent.present.page.scores import Mark, Score, headline_marks, scores
from adk_agent.results.report import EvaluationReport

NAME = "scores.svg"
MOST_ROWS = 20
"""Scores of one picture; the report has all."""
_FIRST, _LINE, _GAP = 34, 26, 16


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A score and its place, in pixels from the top."""

    score: Score | Mark
    top: int
    height: int


def score_picture(report: EvaluationReport) -> str | None:
    """Return scores with intervals, floors and ceilings as SVG; None if nothing was scored."""
    scored: list[Score | Mark] = [
        *(each for each in scores(report) if each.row.scored),
        *headline_marks(report),
    ]
    if not scored:
        return None
    return (
        environment()
        .get_template("scores.svg.j2")
        .render(
            title=f"Scores of run {report.run_id}",
            rows=_rows(scored[:MOST_ROWS]),
            more=len(scored[MOST_ROWS:]),
        )
    )


def _rows(scored: list[Score | Mark]) -> list[_Row]:
    rows: list[_Row] = []
    top = _FIRST
    for score in scored:
        height = _LINE * max(len(score.shown), 1) + _GAP
        rows.append(_Row(score=score, top=top, height=height))
        top += height
    return rows
