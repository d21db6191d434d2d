"""Reports of runs: load one, and compare two."""

from __future__ import annotations

from pathlib import Path

from adk_agent.core.errors import RequestError
from adk_agent.core.settings import Settings
from adk_agent.results.comparison import RunComparison as Comparison
from adk_agent.results.comparison import compare_runs
from adk_agent.results.report import EvaluationReport as Report
from adk_agent.runs import store
from adk_agent.runs.naming import find_run


def load_report(run: str | Path) -> Report:
    """Return the report of a finished run.

    Args:
        run: Its folder, its `report.json`, its id, `latest` or `previous`.

    Raises:
        RequestError: `run` is neither a path nor a text.
        StorageError: There is none, or it cannot be read.
    """
    if not isinstance(run, str | Path):
        raise RequestError(f"{run!r} is no run: give its folder, its report.json or its id")
    return store.load_report(*find_run(str(run), Settings.load().results_dir))


def compare(
    first: Report | str | Path,
    second: Report | str | Path,
    *,
    other_data: bool = False,
    across_users: bool = False,
) -> Comparison:
    """Return the second run against the first, paired by task.

    Args:
        first: The run before, as a report or an argument of `load_report`.
        second: The run after.
        other_data: Compare even if the data revisions differ.
        across_users: Compare even if the simulated users differ.

    Raises:
        RequestError: The runs have nothing in common, or data or users differ.
        StorageError: A run cannot be read.
    """
    one, other = (
        each if isinstance(each, Report) else load_report(each) for each in (first, second)
    )
    return compare_runs(one, other, other_data=other_data, across_users=across_users)
