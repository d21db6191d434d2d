"""`greenroom view`."""

from __future__ import annotations

import argparse
import os
import sys
import webbrowser
from pathlib import Path

from adk_agent.cli.edge import OK
from adk_agent.cli.flags import add_run, run_of, settings_of
from adk_agent.cli.terminal import say
from adk_agent.core.settings import variables
from adk_agent.present.page.writing import write_page
from adk_agent.runs.tracking import read_status
from tau_bridge.benchmarks import Benchmarks, open_benchmarks
from tau_bridge.errors import DataError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Write a run's report.html, one file that needs no network, and open it."
    add_run(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="where to write it (default: the run's folder)"
    )
    parser.add_argument("--no-open", action="store_true", help="open no browser")


def execute(parsed: argparse.Namespace) -> int:
    """Write a run's page, and open it if there is a screen."""
    results_dir, run_id = run_of(parsed)
    path = write_page(
        results_dir,
        run_id,
        benchmarks=_installed(),
        out=Path(parsed.out) if parsed.out else None,
        secrets=settings_of(parsed).secrets(),
    )
    if not read_status(results_dir, run_id).has_ended:
        say(
            f"greenroom: run {run_id} is still running; these are its results so far",
            file=sys.stderr,
        )
    say(f"page: {path}")
    if not parsed.no_open and _has_screen():
        webbrowser.open(path.resolve().as_uri())
    return OK


def _installed() -> Benchmarks:
    """Open the benchmarks; return none if data are missing, since a page needs them little."""
    try:
        return open_benchmarks(variables)
    except DataError as error:
        say(f"greenroom: the page cannot mark calls that change data: {error}", file=sys.stderr)
        return Benchmarks(())


def _has_screen() -> bool:
    """Tell whether a browser would open a window rather than take over the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
