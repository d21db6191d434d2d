"""What the commands about runs on disk share: which folder, which run, and how to go on with it."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from adk_agent.cli.edge import INCOMPLETE, INTERRUPTED, OK
from adk_agent.cli.main import DEFAULT_TIMEOUT_S
from adk_agent.core.errors import RequestError
from adk_agent.core.settings import Settings
from adk_agent.runs.tracking import RunState, run_ids

LOCAL = "local"
"""The executor that needs no flag."""
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


def resume_command(run_id: str, parsed: argparse.Namespace) -> str:
    """The command that goes on with a run."""
    return shlex.join(["greenroom", "resume", run_id, *playing_flags(parsed)])


def playing_flags(parsed: argparse.Namespace) -> list[str]:
    """The flags that say how trials are played, where they are given. A token is not shown.

    Args:
        parsed: Of any command: one that plays nothing has few of them.
    """
    given = vars(parsed)
    timeout_s, share = given.get("timeout", DEFAULT_TIMEOUT_S), given.get("fail_under")
    values = {
        "--timeout": f"{timeout_s:g}" if timeout_s != DEFAULT_TIMEOUT_S else None,
        "--executor": given.get("executor") if given.get("executor") != LOCAL else None,
        "--results-dir": given.get("results_dir"),
        "--stop-when": given.get("stop_when"),
        "--fail-under": f"{share:g}" if share is not None else None,
        "--cache": given.get("cache"),
    }
    flags = ["--offline"] if given.get("offline") else []
    return flags + [each for name, value in values.items() if value for each in (name, value)]
