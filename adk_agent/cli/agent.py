"""`greenroom agent`: a bundled purple agent, as its own process."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from adk_agent.bundled import NEEDS_GOLD, gold_script
from adk_agent.settings import Settings
from tau_bridge.tau2.data import open_source


def execute(parsed: argparse.Namespace) -> int:
    """Serve until interrupted; the exit code is the agent's."""
    command = [sys.executable, "-m", "purple_agent", parsed.name]
    command += ["--host", parsed.host, "--port", str(parsed.port)]
    if parsed.card_url:
        command += ["--card-url", parsed.card_url]
    if parsed.name != NEEDS_GOLD:
        return _wait(subprocess.Popen(command))  # noqa: S603 - our own interpreter
    process = subprocess.Popen([*command, "--gold", "-"], stdin=subprocess.PIPE)  # noqa: S603
    if process.stdin is not None:
        process.stdin.write(_gold().encode() + b"\n")
        process.stdin.flush()
    return _wait(process)


def _gold() -> str:
    source = open_source(Settings.load().tau2_data_dir)
    return json.dumps(
        gold_script(
            (domain, source.task(domain, task_id))
            for domain in source.domains()
            for task_id in source.task_ids(domain)
        )
    )


def _wait(process: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # the agent has had the signal too, and ends by itself
