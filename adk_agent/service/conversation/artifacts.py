"""The artifact of an evaluation: its prose as text, and its report as data.

The platform makes a row of its leaderboard of each data part: one, or one for each benchmark.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from a2a.helpers import new_data_part, new_text_part
from a2a.types import Part

from adk_agent.core.errors import StorageError
from adk_agent.results.digest import digest_of, template_prose
from adk_agent.results.leaderboard import leaderboard_row, leaderboard_rows
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.store import load_report

logger = logging.getLogger(__name__)

NAME = "evaluation"


def report_parts(report: EvaluationReport, prose: str | None = None) -> list[Part]:
    """Return the parts of a report's artifact; without prose, with a template's."""
    text = prose or template_prose(digest_of(report))
    further = [new_data_part(row) for row in leaderboard_rows(report)[1:]]
    return [new_text_part(text), new_data_part(report_data(report)), *further]


def report_data(report: EvaluationReport) -> dict[str, Any]:
    """Return the data part: the first leaderboard row's keys, the report's beside them.

    Where the first participant was not evaluated there is no row, and so none of its keys.
    """
    lean = report.model_dump(
        mode="json",
        exclude={
            "evaluations": True,
            "trials": {"__all__": {"components"}},
            "faulted": {"__all__": {"row": {"components"}}},
        },
    )
    return {**(leaderboard_row(report) or {}), **lean}


def run_id_in(parts: Iterable[Part]) -> str | None:
    """Return the run that an artifact names; None where it names none."""
    for part in parts:
        fields = part.data.struct_value.fields
        if "run_id" in fields:
            return fields["run_id"].string_value or None
    return None


def parts_of_run(results_dir: Path, run_id: str) -> list[Part] | None:
    """Return the artifact's parts by the report on disk; None without it, or without trials."""
    try:
        report = load_report(results_dir, run_id)
    except StorageError as error:
        logger.debug("run %s has no report: %s", run_id, error)
        return None
    return report_parts(report) if report.trials else None


def mostly_broke(report: EvaluationReport) -> bool:
    """Tell whether faults that are not the agent's own left nothing to rely on.

    More than half of the trials failed, or some did and none of the first participant's is scored.
    """
    broken = sum(trial.status == "failed" for trial in report.trials)
    return 2 * broken > len(report.trials) or (broken > 0 and leaderboard_row(report) is None)
