"""`greenroom status`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from adk_agent.cli.edge import OK
from adk_agent.cli.playing import resume_command
from adk_agent.cli.tracked import EXIT_CODES, add_results_dir, results_dir_of, run_of
from adk_agent.cli.watching import watch
from adk_agent.core.errors import RequestError, StorageError
from adk_agent.core.escaping import escape_controls
from adk_agent.core.settings import Settings
from adk_agent.results.progress import Progress, counts_of
from adk_agent.runs.store import MANIFEST, WITHOUT_MODELS, load_manifest
from adk_agent.runs.tracking import RunStatus, read_status

POLL_S = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.description = (
        "Tell how far a run is, whichever process plays it. With --follow the exit "
        "code is that of the run."
    )
    parser.add_argument("run", nargs="?", help="the run's id; the latest by default")
    parser.add_argument("--follow", action="store_true", help="go on telling until it ends")
    parser.add_argument(
        "--watch",
        action="store_true",
        help="the same on one screen: time left, failures, the pass rate with its interval",
    )
    add_results_dir(parser)
    parser.add_argument("--json", action="store_true", help="as JSON, a line for each change")


def execute(parsed: argparse.Namespace) -> int:
    """Tell how far a run is; with `--follow` or `--watch` until it ends, with its own exit code."""
    results_dir = results_dir_of(parsed)
    run_id = run_of(parsed, results_dir)
    if parsed.watch and not parsed.json:
        status = watch(results_dir, run_id)
        _print(status, results_dir, parsed)
        return EXIT_CODES[status.state]
    if parsed.follow or parsed.watch:
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
            print(escape_controls(counts_of(status.progress)), flush=True)
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
        lines.append(f"  trials: {counts_of(status.progress)}")
        if not status.has_ended:
            lines += [f"  so far: {line}" for line in _scores(status.progress)]
    if status.problem is not None:
        lines.append(f"  why: {status.problem}")
    lines.append(f"  started: {status.started_at:%Y-%m-%d %H:%M:%S %Z}")
    lines.append(f"  last heard of: {status.updated_at:%Y-%m-%d %H:%M:%S %Z}")
    lines.append(f"  folder: {directory}")
    if status.has_ended and _is_unfinished(status) and (directory / MANIFEST).exists():
        lines.append(f"  go on with: {_resume_command(status.run_id, results_dir, parsed)}")
    sys.stdout.write(escape_controls("\n".join(lines)) + "\n")


def _resume_command(run_id: str, results_dir: Path, parsed: argparse.Namespace) -> str:
    """The command that goes on with a run: offline where it began so and a model is at hand here."""
    try:
        manifest, settings = load_manifest(results_dir, run_id), Settings.load()
    except (RequestError, StorageError):
        return resume_command(run_id, parsed)  # which says what is wrong
    is_model_here = settings.model_configured or manifest.plan.user_llm is not None
    offline = is_model_here and not settings.offline and manifest.models == WITHOUT_MODELS
    return resume_command(run_id, argparse.Namespace(**{**vars(parsed), "offline": offline}))


def _is_unfinished(status: RunStatus) -> bool:
    """Whether trials are left that may be played: a run that a rule ended is complete too."""
    left = status.progress is not None and status.progress.done < status.progress.total
    return left or status.state != "complete"


def _scores(progress: Progress) -> list[str]:
    return [
        f"{score.participant} in {score.domain}: {score.told} over {score.tasks} tasks"
        for score in progress.scores
        if score.told
    ]
