"""`greenroom results`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from adk_agent.cli.display import Display
from adk_agent.cli.edge import INCOMPLETE, OK
from adk_agent.cli.flags import add_run, resume_command, run_of, settings_of
from adk_agent.cli.terminal import say, write_data
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.redaction import ModelRedactor
from adk_agent.results.brief import brief
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.naming import find_run
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import MARKDOWN


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Show the results of a run, even while it is running. Exit code 3 if it is not complete."
    )
    add_run(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the whole report as JSON")
    form.add_argument(
        "--markdown", action="store_true", help="one screen of markdown, for a pull request"
    )
    parser.add_argument(
        "--baseline", metavar="RUN", help="an earlier run that --markdown compares with"
    )


def execute(parsed: argparse.Namespace) -> int:
    """Show the results of a run.

    Returns:
        0 for a complete run, 3 for any other.
    """
    if parsed.baseline is not None and not parsed.markdown:
        raise RequestError(
            "--baseline goes with --markdown; otherwise: greenroom compare BASELINE RUN"
        )
    results_dir, run_id = run_of(parsed)
    status, report = results_so_far(results_dir, run_id)
    if not status.has_ended:
        say(
            f"greenroom: run {run_id} is still running; these are its results so far",
            file=sys.stderr,
        )
    if parsed.json:
        write_data(report.to_json())
    elif parsed.markdown:
        write_data(_brief(report, parsed, results_dir))
    else:
        last = None
        has_markdown = (results_dir / run_id / MARKDOWN).exists()
        # A report without evaluations was made from the trials just now.
        if status.has_ended and not (report.evaluations and has_markdown):
            what = "older than the trials" if has_markdown else "missing"
            last = f"{MARKDOWN} is {what}; {resume_command(run_id, parsed)} writes it again"
        Display(results_dir, quiet=True, to_stderr=False).result(report, last=last)
    return OK if report.status == "complete" else INCOMPLETE


def _brief(report: EvaluationReport, parsed: argparse.Namespace, results_dir: Path) -> str:
    """Return the run in markdown, without secrets; a baseline that is not there is told in it."""
    redactor = ModelRedactor(settings_of(parsed).secrets())
    baseline, missing = None, None
    if parsed.baseline is not None:
        try:
            _, baseline = results_so_far(*find_run(parsed.baseline, results_dir))
        except GreenroomError as error:
            missing = str(error)
            say(f"greenroom: --baseline: {error}", file=sys.stderr)
    return brief(
        redactor.model(report),
        baseline=None if baseline is None else redactor.model(baseline),
        no_baseline=missing,
    )
