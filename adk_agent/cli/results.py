"""`greenroom results`."""

from __future__ import annotations

import argparse
import sys

from adk_agent.cli.display import Display
from adk_agent.cli.edge import INCOMPLETE, OK
from adk_agent.cli.flags import add_run, resume_command, run_of
from adk_agent.cli.terminal import say, write_data
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import MARKDOWN


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Show the results of a run, even while it is running. Exit code 3 if it is not complete."
    )
    add_run(parser)
    parser.add_argument("--json", action="store_true", help="the whole report as JSON")


def execute(parsed: argparse.Namespace) -> int:
    """Show the results of a run.

    Returns:
        0 for a complete run, 3 for any other.
    """
    results_dir, run_id = run_of(parsed)
    status, report = results_so_far(results_dir, run_id)
    if not status.has_ended:
        say(
            f"greenroom: run {run_id} is still running; these are its results so far",
            file=sys.stderr,
        )
    if parsed.json:
        write_data(report.to_json())
    else:
        last = None
        has_markdown = (results_dir / run_id / MARKDOWN).exists()
        # A report without evaluations was made from the trials just now.
        if status.has_ended and not (report.evaluations and has_markdown):
            what = "older than the trials" if has_markdown else "missing"
            last = f"{MARKDOWN} is {what}; {resume_command(run_id, parsed)} writes it again"
        Display(results_dir, quiet=True, to_stderr=False).result(report, last=last)
    return OK if report.status == "complete" else INCOMPLETE
