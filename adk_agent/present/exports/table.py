"""CSV: one row for each trial."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from adk_agent.core.escaping import escape_controls
from adk_agent.present.exports.output import Export, Output
from adk_agent.present.exports.played import PlayedRun
from adk_agent.results.summary import TrialRow
from adk_agent.results.tables import counted
from tau_bridge.benchmarks import Benchmarks

FILE = "trials.csv"
_BEFORE = (
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
)
_AFTER = (
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
    "agent_prompt_tokens",
    "agent_completion_tokens",
    "agent_total_tokens",
    "agent_cost",
    "trace_id",
    "data_source",
    "data_revision",
)
_REPORTED = ("prompt_tokens", "completion_tokens", "total_tokens", "cost")
"""The figures that agents report of their own models, in columns of their own."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(run: PlayedRun, benchmarks: Benchmarks) -> Export:
    """Export the trials that ended, in the plan's order, as UTF-8 text with a header (RFC 4180).

    Args:
        run: The run.
        benchmarks: Each component of theirs has a column, whether or not the run played them.
    """
    names = [name for each in benchmarks.domains for name in benchmarks.domain(each).components]
    played = [name for row in run.report.trials for name in row.reward_breakdown]
    return Export(outputs=(Output(name=FILE, chunks=_lines(run, columns([*names, *played]))),))


def columns(components: Iterable[str]) -> tuple[str, ...]:
    """Return the columns in their order; components that differ in case alone share one."""
    return (*_BEFORE, *dict.fromkeys(map(_column, components)), *_AFTER)


def _column(component: str) -> str:
    return f"reward_{component.lower()}"


def inert(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: such a text gets an apostrophe.

    Control characters are shown as escapes, for a table is printed too.

    Agents choose parts of what stands in a report.
    """
    shown = escape_controls(text)
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def _lines(run: PlayedRun, header: Sequence[str]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    for part in run.parts():
        data = run.manifest.data[part[1]]
        common = {
            "run_id": run.report.run_id,
            "role": part[0].role,
            "data_source": data.source,
            "data_revision": data.revision,
        }
        for row in run.rows(part):
            values = {**dict.fromkeys(header), **common, **_values(row)}
            writer.writerow([_cell(values[column]) for column in header])
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()


def _values(row: TrialRow) -> dict[str, Any]:
    why, reported = row.diagnosis, row.agent_usage
    given: Mapping[str, Any] = row.model_dump(
        include={*_BEFORE, *_AFTER} - {"reward_basis"}, exclude={"diagnosis"}
    )
    return {
        **{_column(name): value for name, value in row.reward_breakdown.items()},
        **given,
        **{f"agent_{name}": getattr(reported, name, None) for name in _REPORTED},
        "repair_kinds": counted(row.repair_kinds),
        "passed": row.passed if row.status == "scored" else None,
        "reward_basis": " ".join(row.basis),
        "failure_kind": why.kind if why is not None else None,
        "failure_side": why.side if why is not None else None,
        "failure_summary": why.summary if why is not None else None,
    }


def _cell(value: Any) -> Any:
    """Return a value as the file holds it: empty for None, `true`, `false`, an inert text."""
    if isinstance(value, bool):
        return str(value).lower()
    return inert(value) if isinstance(value, str) else value
