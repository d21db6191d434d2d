"""CSV: one row for each trial."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from adk_agent.core.printable import printable
from adk_agent.present.exports.output import Export, Output
from adk_agent.present.exports.played import PlayedRun
from adk_agent.results.summary import TrialRow
from adk_agent.results.tables import counted
from evals.outcome import ComponentName

FILE = "trials.csv"
_COMPONENTS: tuple[str, ...] = tuple(
    name for group in get_args(ComponentName) for name in (get_args(group) or (group,))
)
_BREAKDOWN = {name: f"reward_{name.lower()}" for name in _COMPONENTS}
COLUMNS = (
    "run_id",
    "participant",
    "role",
    "domain",
    "task_id",
    "trial",
    "seed",
    "status",
    "passed",
    "reward",
    "reward_basis",
    *_BREAKDOWN.values(),
    "fault",
    "reason",
    "failure_kind",
    "failure_side",
    "failure_summary",
    "termination",
    "user",
    "produced_by",
    "turns",
    "tool_calls",
    "format_repairs",
    "repair_kinds",
    "duration_ms",
    "total_tokens",
    "cost",
    "trace_id",
    "data_source",
    "data_revision",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(run: PlayedRun) -> Export:
    """The trials that ended, in the plan's order, as UTF-8 text with a header (RFC 4180)."""
    return Export(outputs=(Output(name=FILE, chunks=_lines(run)),))


def inert(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe stands before what it might.

    Control characters are shown as escapes, for a table is printed too.

    Agents choose parts of what stands in a report.
    """
    shown = printable(text)
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def _lines(run: PlayedRun) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    for part in run.parts():
        common = {"run_id": run.report.run_id, "role": part[0].role, **_origin(run, part[1])}
        for row in run.rows(part):
            values = {**common, **_values(row)}
            writer.writerow([_cell(values[column]) for column in COLUMNS])
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()


def _origin(run: PlayedRun, domain: str) -> dict[str, str]:
    data = run.manifest.data[domain]
    return {"data_source": data.source, "data_revision": data.revision}


def _values(row: TrialRow) -> dict[str, Any]:
    why = row.diagnosis
    given: Mapping[str, Any] = row.model_dump(
        include=set(COLUMNS) - {"reward_basis"}, exclude={"diagnosis"}
    )
    return {
        **given,
        "repair_kinds": counted(row.repair_kinds),
        "passed": row.passed if row.status == "scored" else None,
        "reward_basis": " ".join(row.basis),
        **{column: row.reward_breakdown.get(name) for name, column in _BREAKDOWN.items()},
        "failure_kind": why.kind if why is not None else None,
        "failure_side": why.side if why is not None else None,
        "failure_summary": why.summary if why is not None else None,
    }


def _cell(value: Any) -> Any:
    """As the file holds it: empty for None, `true` and `false`, a text that is no formula."""
    if isinstance(value, bool):
        return str(value).lower()
    return inert(value) if isinstance(value, str) else value
