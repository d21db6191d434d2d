"""`greenroom resume`."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path
from typing import get_args

from adk_agent.cli import gate
from adk_agent.cli.display import Display
from adk_agent.cli.edge import INTERRUPTED
from adk_agent.cli.playing import add_playing, read_token, resume_command, stop_rule_of
from adk_agent.core.errors import StorageError
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import resume
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.results import explain_if_silent
from adk_agent.runs.retry import Retry, settled_report
from adk_agent.runs.store import MANIFEST, RunManifest, load_manifest
from adk_agent.runs.tracking import RunStatus, read_status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.description = (
        "Go on with a run that was interrupted: play the trials that are missing or "
        "failed, and report all of it."
    )
    parser.add_argument("run", help="the run's id")
    parser.add_argument(
        "--retry",
        choices=get_args(Retry),
        default="failed",
        help="which trials that ended are played again: those that failed (default), those "
        "without a score too, or all",
    )
    add_playing(parser)


def execute(parsed: argparse.Namespace) -> int:
    """Play what is missing of a run; the exit code says how the whole of it went."""
    settings = Settings.load(
        results_dir=Path(parsed.results_dir) if parsed.results_dir else None,
        offline=parsed.offline or None,
    )
    stop_rule_of(parsed)  # one that cannot be read is refused before anything is done
    status = read_status(settings.results_dir, parsed.run)
    manifest = _manifest(settings.results_dir, status)
    display = Display(quiet=parsed.quiet, to_stderr=parsed.json)
    display.folder = settings.results_dir / status.run_id
    settled = settled_report(settings.results_dir, manifest, parsed.retry)
    try:
        if settled is None:
            report = asyncio.run(_resume(manifest, settings, parsed, display))
        else:
            report = settled
            explain_if_silent(settings.results_dir, report)
            print(f"greenroom: {_nothing_left(report)}", file=sys.stderr)
    except (KeyboardInterrupt, asyncio.CancelledError):
        command = resume_command(status.run_id, parsed)
        print(
            f"greenroom: interrupted; what was finished is kept in {display.folder}; go on with: "
            f"{command}",
            file=sys.stderr,
        )
        return INTERRUPTED
    finally:
        display.close()
    if parsed.json:
        sys.stdout.write(report.to_json())
    display.result(report)
    return gate.exit_code(report, parsed.fail_under)


def _nothing_left(report: EvaluationReport) -> str:
    text = f"nothing of run {report.run_id} is left to play"
    without = sum(row.status != "scored" for row in report.trials)
    if not without:
        return text
    trials = "1 trial has" if without == 1 else f"{without} trials have"
    return f"{text}; {trials} no score: --retry unscored plays them again"


def _manifest(results_dir: Path, status: RunStatus) -> RunManifest:
    if not (results_dir / status.run_id / MANIFEST).exists():
        why = f" ({status.problem})" if status.problem else ""
        raise StorageError(
            f"run {status.run_id} cannot go on, for nothing of it was begun{why}; start it again: "
            "greenroom run"
        )
    return load_manifest(results_dir, status.run_id)


async def _resume(
    manifest: RunManifest,
    settings: Settings,
    parsed: argparse.Namespace,
    display: Display,
) -> EvaluationReport:
    from adk_agent.assembly import Assembly

    this_task = asyncio.current_task()
    if this_task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this_task.cancel)
    tokens = {}
    if parsed.token is not None:
        token = read_token(parsed.token)
        everyone = manifest.plan.members or manifest.plan.participants
        tokens = {each.address: token for each in everyone if each.builtin is None}
    assembly = Assembly(
        settings=settings,
        timeout_s=parsed.timeout,
        tokens=tokens,
        cache_dir=Path(parsed.cache) if parsed.cache else None,
        stop_rule=stop_rule_of(parsed),
        executor=parsed.executor,
    )
    display.start(settings.results_dir)
    report = await resume(
        manifest.run_id, assembly.evaluation_deps(), retry=parsed.retry, on_progress=display.show
    )
    display.close()
    return report
