"""`greenroom cancel`."""

from __future__ import annotations

import argparse
import sys
import time

from adk_agent.cli.edge import INCOMPLETE, OK
from adk_agent.cli.tracked import add_results_dir, results_dir_of
from adk_agent.runs.tracking import read_status, request_cancel

WAIT_S = 15.0
"""How long a run may take to stop before this command says that it still goes on."""
_POLL_S = 0.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.description = "Stop a run, whichever process plays it. What was finished is kept."
    parser.add_argument("run", help="the run's id")
    add_results_dir(parser)


def execute(parsed: argparse.Namespace) -> int:
    """Stop a run and wait until it has.

    Returns:
        3 where it goes on nevertheless.
    """
    results_dir = results_dir_of(parsed)
    request_cancel(results_dir, parsed.run)
    until_s = time.monotonic() + WAIT_S
    status = read_status(results_dir, parsed.run)
    while not status.has_ended and time.monotonic() < until_s:
        time.sleep(_POLL_S)
        status = read_status(results_dir, parsed.run)
    if not status.has_ended:
        print(
            f"greenroom: run {parsed.run} was asked to stop and has not within {WAIT_S:g} s; see: "
            "greenroom status",
            file=sys.stderr,
        )
        return INCOMPLETE
    print(f"Run {parsed.run}: {status.state}; its folder is {results_dir / parsed.run}")
    return OK
