"""What the commands about runs on disk share: which folder, and which run."""

from __future__ import annotations

import argparse
from pathlib import Path

from adk_agent.cli.edge import INCOMPLETE, INTERRUPTED, OK
from adk_agent.core.errors import RequestError
from adk_agent.core.settings import Settings
from adk_agent.runs.tracking import RunState, run_ids

EXIT_CODES: dict[RunState, int] = {
    "running": OK,
    "complete": OK,
    "incomplete": INCOMPLETE,
    "interrupted": INCOMPLETE,
    "canceled": INTERRUPTED,
    "failed": INCOMPLETE,
}
"""What the end of a run means for whoever waited for it."""


def results_dir_of(parsed: argparse.Namespace) -> Path:
    """The folder of runs that a command means: that of its flag, else of the settings."""
    given = Path(parsed.results_dir) if parsed.results_dir else None
    return Settings.load(results_dir=given).results_dir


def run_of(parsed: argparse.Namespace, results_dir: Path) -> str:
    """The run that a command means: the one that it names, else the latest.

    Raises:
        RequestError: None is named, and there is none.
    """
    if parsed.run is not None:
        named: str = parsed.run
        return named
    found = run_ids(results_dir) if results_dir.is_dir() else []
    if not found:
        raise RequestError(f"there is no run in {str(results_dir)!r} yet; start one: greenroom run")
    return found[0]


def add_results_dir(parser: argparse.ArgumentParser) -> None:
    """The argument of every command about runs on disk."""
    parser.add_argument(
        "--results-dir", metavar="DIR", help="where runs are kept (default results)"
    )
