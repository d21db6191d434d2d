"""`greenroom results`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adk_agent.cli.display import Display
from adk_agent.cli.edge import INCOMPLETE, OK
from adk_agent.cli.playing import resume_command
from adk_agent.cli.tracked import add_results_dir, results_dir_of, run_of
from adk_agent.runs.results import MARKDOWN, is_on_disk, results_so_far


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.description = (
        "Show what a run has found, also while it goes on. Exit code 3 where it is not complete."
    )
    parser.add_argument("run", nargs="?", help="the run's id; the latest by default")
    add_results_dir(parser)
    parser.add_argument("--json", action="store_true", help="the whole report as JSON")


def execute(parsed: argparse.Namespace) -> int:
    """Show what a run has found.

    Returns:
        0 for a complete run, 3 for any other.
    """
    results_dir = results_dir_of(parsed)
    run_id = run_of(parsed, results_dir)
    status, report = results_so_far(results_dir, run_id)
    if not status.has_ended:
        print(f"greenroom: run {run_id} goes on; this is what it has so far", file=sys.stderr)
    if parsed.json:
        sys.stdout.write(report.to_json())
    else:
        display = Display(quiet=True, to_stderr=False)
        display.folder = results_dir / run_id
        behind = status.has_ended and not is_on_disk(results_dir, report)
        display.result(report, last=_how_to_write(parsed, results_dir, run_id) if behind else None)
    return OK if report.status == "complete" else INCOMPLETE


def _how_to_write(parsed: argparse.Namespace, results_dir: Path, run_id: str) -> str:
    is_there = (results_dir / run_id / MARKDOWN).exists()
    what = f"{MARKDOWN} is {'older than the trials' if is_there else 'missing'}"
    return f"{what}; {resume_command(run_id, parsed)} writes it anew"
