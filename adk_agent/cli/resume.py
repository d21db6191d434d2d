"""`greenroom resume`."""

from __future__ import annotations

import argparse
import sys
from typing import get_args

from adk_agent.cli.display import Display
from adk_agent.cli.flags import add_playing, settings_of
from adk_agent.cli.playing import assembly_of, conclude, play, stop_rule_of
from adk_agent.core.errors import StorageError
from adk_agent.play.evaluation import resume
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.retry import Retry, settled_report
from adk_agent.runs.store import MANIFEST, load_manifest
from adk_agent.runs.tracking import read_status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
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
    settings = settings_of(parsed)
    results_dir = settings.results_dir
    stop_rule_of(parsed)  # one that cannot be read is refused before anything is done
    status = read_status(results_dir, parsed.run)
    if not (results_dir / status.run_id / MANIFEST).exists():
        why = f" ({status.problem})" if status.problem else ""
        raise StorageError(
            f"run {status.run_id} cannot go on: nothing was played{why}; start it again: "
            "greenroom run"
        )
    manifest = load_manifest(results_dir, status.run_id)

    settled = settled_report(results_dir, manifest, parsed.retry)
    if settled is not None:
        print(f"greenroom: {_nothing_left(settled)}", file=sys.stderr)
        return conclude(settled, parsed, settings)

    async def work(display: Display) -> EvaluationReport:
        deps = assembly_of(parsed, settings, plan=manifest.plan).evaluation_deps()
        return await resume(manifest.run_id, deps, retry=parsed.retry, on_progress=display.show)

    return play(work, parsed, settings, run_id=status.run_id)


def _nothing_left(report: EvaluationReport) -> str:
    text = f"nothing of run {report.run_id} is left to play"
    without = sum(row.status != "scored" for row in report.trials)
    if not without:
        return text
    trials = "1 trial has" if without == 1 else f"{without} trials have"
    return f"{text}; {trials} no score: --retry unscored plays them again"
