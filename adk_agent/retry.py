"""Retry: which trials that ended are worth playing again when a run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from adk_agent.report import EvaluationReport
from adk_agent.results import REPORT
from adk_agent.runs import RunManifest, TrialRecord, iter_trials, load_report
from adk_agent.summary import TrialRow
from adk_agent.tracking import read_status
from adk_agent.trial import jobs_of
from evals.outcome import Fault

Retry = Literal["failed", "unscored", "all"]
"""`failed`: trials that broke for a reason that lies outside the agent. `unscored`: every trial
without a score. `all`: every trial."""
PASSING_FAULTS: frozenset[Fault] = frozenset({"infrastructure", "user", "harness"})
"""Whose faults may be gone the next time. An agent that gave up would be given a second chance."""


def is_repeated(row: TrialRow, retry: Retry) -> bool:
    """Whether a trial that ended so is played again."""
    if retry == "failed":
        return row.status == "failed" and (row.fault is None or row.fault in PASSING_FAULTS)
    return retry == "all" or row.status != "scored"


def kept_trials(results_dir: Path, manifest: RunManifest, retry: Retry) -> Iterator[TrialRecord]:
    """The trials of a run that are not played again.

    Raises:
        StorageError: They cannot be read, or are not those of the run.
    """
    for record in iter_trials(results_dir, manifest.run_id, manifest=manifest):
        if not is_repeated(record.row, retry):
            yield record


def settled_report(
    results_dir: Path, manifest: RunManifest, retry: Retry
) -> EvaluationReport | None:
    """The report of a run of which nothing is left to play or to write; None where something is.

    Raises:
        StorageError: Its files cannot be read, or hold trials that are not of the run.
    """
    ended = read_status(results_dir, manifest.run_id).state in ("complete", "incomplete")
    if not ended or not (results_dir / manifest.run_id / REPORT).exists():
        return None
    kept = {each.key: each.row for each in kept_trials(results_dir, manifest, retry)}
    keys = [job.key for job in jobs_of(manifest.plan)]
    if not all(key in kept for key in keys):
        return None
    report = load_report(results_dir, manifest.run_id)
    is_whole = report.status != "interrupted" and report.trials == tuple(kept[key] for key in keys)
    return report if is_whole else None
