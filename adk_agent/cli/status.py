"""`greenroom status`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from adk_agent.cli.edge import OK
from adk_agent.cli.tracked import EXIT_CODES, results_dir_of, resume_command, run_of
from adk_agent.printable import printable
from adk_agent.progress import Progress
from adk_agent.runs import MANIFEST
from adk_agent.tracking import RunStatus, read_status

POLL_S = 0.25


def execute(parsed: argparse.Namespace) -> int:
    """Tell how far a run is; with `--follow` until it ends, and then the run's own exit code."""
    results_dir = results_dir_of(parsed)
    run_id = run_of(parsed, results_dir)
    if parsed.follow:
        status = _followed(results_dir, run_id, parsed)
        return EXIT_CODES[status.state]
    status = read_status(results_dir, run_id)
    if parsed.json:
        print(status.model_dump_json(indent=2))
    else:
        _print(status, results_dir, parsed)
    return OK


def _followed(results_dir: Path, run_id: str, parsed: argparse.Namespace) -> RunStatus:
    """Print every change until the run has ended, and return its last status."""
    last: RunStatus | None = None
    while True:
        status = read_status(results_dir, run_id)
        if status != last and parsed.json:
            print(status.model_dump_json(), flush=True)
        elif status != last and status.progress is not None and not status.has_ended:
            print(printable(_counts(status.progress)), flush=True)
        if status.has_ended:
            if not parsed.json:
                _print(status, results_dir, parsed)
            return status
        last = status
        time.sleep(POLL_S)


def _print(status: RunStatus, results_dir: Path, parsed: argparse.Namespace) -> None:
    directory = results_dir / status.run_id
    lines = [f"Run {status.run_id}: {status.state}", f"  request: {status.request}"]
    if status.progress is not None:
        lines.append(f"  trials: {_counts(status.progress)}")
    if status.problem is not None:
        lines.append(f"  why: {status.problem}")
    lines.append(f"  started: {status.started_at:%Y-%m-%d %H:%M:%S %Z}")
    lines.append(f"  last heard of: {status.updated_at:%Y-%m-%d %H:%M:%S %Z}")
    lines.append(f"  folder: {directory}")
    if status.has_ended and status.state != "complete" and (directory / MANIFEST).exists():
        lines.append(f"  go on with: {resume_command(status.run_id, parsed)}")
    sys.stdout.write(printable("\n".join(lines)) + "\n")


def _counts(progress: Progress) -> str:
    parts = [f"{progress.done} of {progress.total} played", f"{progress.passed} passed"]
    parts += [
        f"{count} {what}"
        for count, what in ((progress.unscored, "unscored"), (progress.failed, "failed"))
        if count
    ]
    if progress.seconds_left is not None and progress.stage == "playing":
        parts.append(f"about {progress.seconds_left:.0f} s left")
    return ", ".join(parts)
