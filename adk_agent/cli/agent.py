"""`greenroom agent`: replaces this process with a bundled purple agent."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile

from adk_agent.cli import values
from adk_agent.cli.flags import checked_card_url
from adk_agent.core.plan import NEEDS_GOLD
from adk_agent.core.settings import variables
from tau_bridge.benchmarks import open_benchmarks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Serve a bundled purple agent."
    parser.add_argument("name", help="see: greenroom list agents")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument(
        "--port", type=values.port, default=9010, help="default 9010; 0: a free one"
    )
    parser.add_argument("--card-url", metavar="URL", help="the address that the card names")


def execute(parsed: argparse.Namespace) -> int:
    """Replace this process with the agent's, so that signals and the exit code are its own."""
    card_url = checked_card_url(parsed.card_url)
    command = [sys.executable, "-P", "-m", "purple_agent", parsed.name]
    command += ["--host", parsed.host, "--port", str(parsed.port)]
    if card_url is not None:
        command += ["--card-url", card_url]
    if parsed.name in NEEDS_GOLD:
        _put_on_standard_input(_gold())
        command += ["--gold", "-"]
    os.execv(sys.executable, command)  # noqa: S606 - our own interpreter, no shell


def _gold() -> str:
    """Return the solutions of all tasks that have one, as JSON for the agents that replay them."""
    refs = (
        (benchmark, benchmark.ref(domain.name, task_id))
        for benchmark in open_benchmarks(variables).all
        for domain in benchmark.domains()
        if domain.has_gold
        for task_id in benchmark.task_ids(domain.name)
    )
    return json.dumps({f"{ref.domain}/{ref.id}": benchmark.gold(ref) for benchmark, ref in refs})


def _put_on_standard_input(text: str) -> None:
    """Make `text` the next program's standard input, through a file without a name."""
    with tempfile.TemporaryFile() as file:
        file.write(text.encode() + b"\n")
        file.seek(0)
        os.dup2(file.fileno(), sys.stdin.fileno())
