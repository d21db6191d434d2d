"""A report as a piece of HTML for notebooks. What agents wrote is escaped."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from adk_agent.core.escaping import escape_controls, one_line
from adk_agent.results.headlines import HeadlineRow
from adk_agent.results.summary import OverallRow, SummaryRow, TrialRow
from adk_agent.results.tables import Table, headline_table, score_table

MOST_FAILURES = 5
MOST_WARNINGS = 5
_MOST_CHARS = 300
_SHOWN = (
    *("agent", "domain", "tasks", "trials", "passed", "failed"),
    *("pass^1", "95 %", "floor", "ceiling"),
)
_HEADLINE = ("agent", "domain", "headline", "better", "value", "95 %", "floor", "ceiling")


def notebook_html(
    *,
    run_id: str,
    status: str,
    rows: Sequence[OverallRow | SummaryRow],
    headlines: Sequence[HeadlineRow],
    warnings: Sequence[str],
    trials: Sequence[TrialRow],
) -> str:
    """Return a heading, the tables of scores, the warnings and the first failures."""
    parts = [_element("p", f"Run {run_id}: {status}")]
    scored = [row for row in rows if not (isinstance(row, SummaryRow) and row.by_headlines)]
    if scored:
        parts.append(_table(_columns(score_table(scored), _SHOWN)))
    if headlines:
        parts.append(_table(_columns(headline_table(headlines), _HEADLINE)))
    parts += _list("Warnings", list(warnings), MOST_WARNINGS)
    lost = [trial for trial in trials if not trial.passed]
    parts += _list("Not passed", [_failure(trial) for trial in lost], MOST_FAILURES)
    return str(Markup("\n").join(parts))


def _failure(trial: TrialRow) -> str:
    why = trial.diagnosis.summary if trial.diagnosis is not None else ""
    return f"{trial.label}: {trial.reason or why or trial.outcome}"


def _columns(table: Table, names: Sequence[str]) -> Table:
    header, rows = table
    kept = [at for at, name in enumerate(header) if name in names]
    return tuple(header[at] for at in kept), [tuple(row[at] for at in kept) for row in rows]


def _table(table: Table) -> Markup:
    header, rows = table
    lines = [_row(header, "th"), *(_row(row, "td") for row in rows)]
    return Markup("<table>\n{}\n</table>").format(Markup("\n").join(lines))


def _row(cells: Sequence[str], element: str) -> Markup:
    return Markup("<tr>{}</tr>").format(Markup("").join(_element(element, each) for each in cells))


def _list(title: str, texts: Sequence[str], most: int) -> list[Markup]:
    if not texts:
        return []
    shown = [_element("li", each) for each in texts[:most]]
    if len(texts) > most:
        shown.append(_element("li", f"... and {len(texts) - most} more"))
    return [_element("p", title), Markup("<ul>\n{}\n</ul>").format(Markup("\n").join(shown))]


def _element(name: str, text: str) -> Markup:
    inner = escape(escape_controls(one_line(text, _MOST_CHARS)))
    return Markup("<{0}>{1}</{0}>").format(Markup(name), inner)  # noqa: S704 - a literal's name
