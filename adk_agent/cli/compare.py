"""`greenroom compare`."""

from __future__ import annotations

import argparse
import sys

from adk_agent.cli.edge import GATE_FAILED, INCOMPLETE, OK
from adk_agent.cli.flags import A_RUN, add_results_dir, settings_of
from adk_agent.cli.terminal import say, write_data
from adk_agent.results.comparison import RunComparison, compare_runs
from adk_agent.results.comparison_text import summary
from adk_agent.runs.naming import find_run
from adk_agent.runs.results import results_so_far


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Compare two runs, paired by task: the difference with its interval, a "
        "permutation test, tasks gained and lost."
    )
    parser.add_argument("first", help=f"{A_RUN}; the one before")
    parser.add_argument("second", help="the run after, named likewise")
    parser.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="exit code 1 if the second run is significantly worse",
    )
    parser.add_argument(
        "--other-data", action="store_true", help="compare even if the data revisions differ"
    )
    parser.add_argument(
        "--across-users",
        action="store_true",
        help="compare even if the simulated users differ: in their model, or its arguments",
    )
    add_results_dir(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(parsed: argparse.Namespace) -> int:
    """Compare two runs.

    Returns:
        With `--fail-on-regression`, 1 if the second run is significantly worse, and 3 if that is
        unknown because tasks lost their score; otherwise 0.
    """
    results_dir = settings_of(parsed).results_dir
    _, first = results_so_far(*find_run(parsed.first, results_dir))
    _, second = results_so_far(*find_run(parsed.second, results_dir))
    found = compare_runs(
        first, second, other_data=parsed.other_data, across_users=parsed.across_users
    )
    if parsed.json:
        write_data(found.model_dump_json(indent=2) + "\n")
    else:
        write_data(summary(found))
    return _gate(found) if parsed.fail_on_regression else OK


def _gate(found: RunComparison) -> int:
    worse = [
        f"{row.second_agent} (in {' and '.join(row.domains)})" if row.domains else row.second_agent
        for row in found.agents
        if row.is_regression
    ]
    worse += [
        f"{row.second_agent} ({row.name} in {row.domain})"
        for row in found.headlines
        if row.is_regression
    ]
    if worse:
        say(f"greenroom: regression: {', '.join(worse)}", file=sys.stderr)
        return GATE_FAILED
    if found.undecided:
        why = "; ".join(found.undecided)
        say(f"greenroom: no verdict: {why}", file=sys.stderr)
        return INCOMPLETE
    return OK
