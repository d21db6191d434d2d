"""brief: a run on one screen of markdown, for a pull request: scores, the baseline, why it failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_markdown
from adk_agent.results.causes import cause_lines
from adk_agent.results.comparison import (
    AgentComparison,
    PairedComparison,
    RunComparison,
    TaskMove,
    compare_runs,
)
from adk_agent.results.comparison_text import headline_line, name_of, verdict_line
from adk_agent.results.report import EvaluationReport
from adk_agent.results.tables import Table, headline_table, score_table, without_the_usual

MOST_LISTED = 20
"""Rows, reasons, warnings and tasks of one list."""
MOST_CHARS = 60_000
"""GitHub takes 65,536 characters in a comment."""
_PINGS = re.compile(r"@(?=\w)|#(?=\d)")
_UNSEEN = "\u200b"


def brief(
    report: EvaluationReport,
    *,
    baseline: EvaluationReport | None = None,
    no_baseline: str | None = None,
) -> str:
    """Return the scores of a run, its difference to a baseline, and why trials did not pass.

    Nothing in it names a person or an issue of the platform that shows it, whatever agents said.

    Args:
        report: The run.
        baseline: An earlier run.
        no_baseline: Why there is none, if there should be one.
    """
    parts = [f"### Greenroom: run {report.run_id}"]
    if report.status != "complete":
        parts.append(f"**This run is {report.status}.**")
    parts.append(_table(without_the_usual(score_table([*report.summary, *report.overall]))))
    parts += [_table(headline_table(report.headlines))] if report.headlines else []
    if baseline is not None:
        parts += _against(baseline, report)
    elif no_baseline is not None:
        parts += ["#### No baseline", _bullets([no_baseline])]
    causes = cause_lines(report)
    parts += ["#### Why trials did not pass", _bullets(causes)] if causes else []
    parts += ["#### Warnings", _bullets(report.warnings)] if report.warnings else []
    parts.append(_made_with(report))
    return _PINGS.sub(lambda found: found[0] + _UNSEEN, _bounded("\n\n".join(parts))) + "\n"


def _against(baseline: EvaluationReport, report: EvaluationReport) -> list[str]:
    title = f"#### Against the baseline, run {baseline.run_id} of {baseline.created_at:%Y-%m-%d}"
    try:
        found = compare_runs(baseline, report)
    except RequestError as error:
        return [title, _bullets([f"**The baseline is stale, nothing is compared**: {error}"])]
    lines = [line for row in found.agents for line in _agent_lines(row)]
    lines += [f"- {_plain(headline_line(row))}" for row in found.headlines]
    stale = [*found.warnings, *_other_tasks(found)]
    if stale:
        lines += ["- **The baseline may be stale:**", *(f"  - {_plain(each)}" for each in stale)]
    return [title, "\n".join(lines)]


def _agent_lines(row: AgentComparison) -> list[str]:
    by = row.comparison
    where = f" in {' and '.join(row.domains)}" if row.domains else ""
    return [
        f"- {_plain(f'{name_of(row)}{where}')}: **{_plain(verdict_line(row))}**",
        f"  - pass^1 {by.first:.3f} before, {by.second:.3f} now, difference {by.difference:+.3f} "
        f"(95 % interval {by.interval.low:+.2f} to {by.interval.high:+.2f}), over {by.tasks} tasks",
        f"  - sign-flip permutation test over tasks: p = {by.p_value:.4f}",
        *_moves("gained", row.gained),
        *_moves("lost", row.lost),
    ]


def _moves(what: str, moves: Sequence[TaskMove]) -> list[str]:
    if not moves:
        return []
    named = ", ".join(f"{move.domain}/{move.task_id}" for move in moves[:MOST_LISTED])
    more = f" and {len(moves) - MOST_LISTED} more" if len(moves) > MOST_LISTED else ""
    return [f"  - {what} {len(moves)}: {_plain(named)}{more}"]


def _other_tasks(found: RunComparison) -> list[str]:
    """Say where the runs played different tasks."""
    rows: list[PairedComparison] = [*found.agents, *found.headlines]
    apart = [(row, row.only_first, row.only_second) for row in rows]
    return [
        f"other tasks for {name_of(row)}: {first} were scored in the baseline alone, {second} in "
        "this run alone, and none of them is compared"
        for row, first, second in apart
        if first or second
    ]


def _made_with(report: EvaluationReport) -> str:
    data = {row.domain: row.data for row in report.summary}
    origins = [f"{domain} of {origin.source}" for domain, origin in data.items()]
    version = report.versions.get("greenroom", "an unknown version")
    return f"greenroom {_plain(version)}; {_plain('; '.join(origins))}"


def _table(table: Table) -> str:
    header, rows = table
    lines = [_cells(header), _cells("---" for _ in header), *map(_cells, rows[:MOST_LISTED])]
    if len(rows) > MOST_LISTED:
        lines += ["", f"{len(rows) - MOST_LISTED} more rows are in the report."]
    return "\n".join(lines)


def _cells(cells: Iterable[str]) -> str:
    return f"| {' | '.join(_plain(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _bullets(lines: Sequence[str]) -> str:
    shown = [f"- {_plain(line)}" for line in lines[:MOST_LISTED]]
    if len(lines) > MOST_LISTED:
        shown.append(f"- ... and {len(lines) - MOST_LISTED} more, in the report")
    return "\n".join(shown)


def _plain(text: str) -> str:
    return escape_markdown(" ".join(text.split()))


def _bounded(text: str) -> str:
    if len(text) <= MOST_CHARS:
        return text
    return f"{text[:MOST_CHARS]}\n\n... the rest is in the report"
