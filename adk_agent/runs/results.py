"""Results: the report of a run, finished or not, from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adk_agent.core.errors import NoResultsError
from adk_agent.results.digest import digest_of, template_prose
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.jobs import jobs_of
from adk_agent.runs.report_builder import report_of
from adk_agent.runs.store import (
    MANIFEST,
    MARKDOWN,
    REPORT,
    TRIALS,
    iter_trials,
    load_manifest,
    load_report,
)
from adk_agent.runs.tracking import RunStatus, read_status


def results_so_far(results_dir: Path, run_id: str) -> tuple[RunStatus, EvaluationReport]:
    """Return the status of a run and its report, as written or made from the trials so far.

    The second kind has the status `interrupted` and only rewards, no other evaluations. It replaces
    a report that is not written yet, or is older than the trials.

    Raises:
        RequestError: There is no such run.
        NoResultsError: It has no results.
        StorageError: They cannot be read.
    """
    status = read_status(results_dir, run_id)
    directory = results_dir / run_id
    if not any((directory / name).exists() for name in (MANIFEST, TRIALS)):
        why = f": {status.problem}" if status.problem else ""
        raise NoResultsError(
            f"run {run_id} has no results: it is {status.state}, and nothing was played{why}"
        )
    written = load_report(results_dir, run_id) if (directory / REPORT).exists() else None
    if written is not None and status.state in ("complete", "incomplete"):
        return status, written
    manifest = load_manifest(results_dir, run_id)
    ended = iter_trials(results_dir, run_id, manifest=manifest)
    played = {record.key: record.row for record in ended}
    rows = tuple(played[job.key] for job in jobs_of(manifest.plan) if job.key in played)
    if written is not None and written.trials == rows:
        return status, written
    return status, report_of(manifest, rows, status="interrupted")


def results_row(results_dir: Path, run_id: str) -> dict[str, Any]:
    """Return the results of `results_so_far` in a form small enough for a language model.

    Raises:
        RequestError: There is no such run.
        StorageError: It has no results, or they cannot be read.
    """
    status, report = results_so_far(results_dir, run_id)
    digest = digest_of(report)
    directory = results_dir / run_id
    files = {"report": REPORT, "markdown": MARKDOWN, "trials": TRIALS}
    return {
        "run_id": run_id,
        "state": status.state,
        "final": status.has_ended,
        "digest": digest.model_dump(mode="json"),
        "prose": template_prose(digest),
        "files": {
            name: str(directory / file)
            for name, file in files.items()
            if (directory / file).exists()
        },
    }
