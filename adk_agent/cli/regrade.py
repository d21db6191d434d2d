"""`greenroom regrade`: scores recorded conversations again."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adk_agent.cli.edge import GATE_FAILED, INCOMPLETE, OK
from adk_agent.cli.flags import add_engine
from adk_agent.cli.terminal import say, write_data
from adk_agent.core.settings import variables
from adk_agent.play.regrade import Regraded, regrade
from tau_bridge.benchmarks import open_benchmarks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = (
        "Score the conversations of an official results file again and compare "
        "with the recorded rewards. Recorded verdicts on natural-language statements are reused."
    )
    parser.add_argument("results", help="an official results.json, or one in gzip")
    add_engine(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(parsed: argparse.Namespace) -> int:
    """Print every simulation whose reward differs.

    Returns:
        1 if any differs, 3 if none could be compared, otherwise 0.
    """
    outcome = asyncio.run(_regraded(Path(parsed.results), dict(parsed.option or ())))
    if parsed.json:
        write_data(json.dumps(outcome.to_json(), indent=2))
    else:
        _print(outcome)
    if outcome.different:
        return GATE_FAILED
    if outcome.compared == 0:
        say(f"greenroom: no reward of {parsed.results!r} could be compared", file=sys.stderr)
        return INCOMPLETE
    return OK


async def _regraded(path: Path, options: Mapping[str, str]) -> Regraded:
    benchmarks = open_benchmarks(variables).with_options(
        lambda each: {key: options[key] for key in each.options_type.model_fields & options.keys()}
    )
    try:
        return await regrade(path, benchmarks)
    finally:
        for each in benchmarks.all:
            await each.aclose()


def _print(outcome: Regraded) -> None:
    for row in outcome.simulations:
        if row["id"] in outcome.different or row["status"] != "scored":
            say(_line(row))
    equal = outcome.compared - len(outcome.different)
    say(
        f"{equal} of {outcome.compared} rewards equal; "
        f"{len(outcome.simulations) - outcome.compared} simulations could not be compared"
    )
    for reason, count in outcome.not_compared().most_common():
        say(f"  {count}: {reason}")


def _line(row: dict[str, Any]) -> str:
    reason = f" ({row['reason']})" if row["reason"] else ""
    return (
        f"{row['id']} task {row['task_id']}: {row['status']}, reward {row['reward']}, "
        f"recorded {row['recorded_reward']}{reason}"
    )
