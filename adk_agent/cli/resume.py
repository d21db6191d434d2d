"""`greenroom resume`."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from adk_agent.cli.display import Display
from adk_agent.cli.edge import INCOMPLETE, INTERRUPTED, OK
from adk_agent.cli.run import read_token
from adk_agent.cli.tracked import resume_command
from adk_agent.errors import StorageError
from adk_agent.evaluation import resume
from adk_agent.plan import EvaluationPlan
from adk_agent.report import EvaluationReport
from adk_agent.results import explain_by_rules
from adk_agent.runs import MANIFEST, load_manifest
from adk_agent.settings import Settings
from adk_agent.tracking import RunStatus, read_status


def execute(parsed: argparse.Namespace) -> int:
    """Play what is missing of a run; the exit code says how the whole of it went."""
    settings = Settings.load(
        results_dir=Path(parsed.results_dir) if parsed.results_dir else None,
        offline=parsed.offline or None,
    )
    status = read_status(settings.results_dir, parsed.run)
    plan = _plan(settings.results_dir, status)
    display = Display(quiet=parsed.quiet, to_stderr=parsed.json)
    display.folder = settings.results_dir / status.run_id
    try:
        report = asyncio.run(_resume(status.run_id, plan, settings, parsed, display))
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
    return OK if report.status == "complete" else INCOMPLETE


def _plan(results_dir: Path, status: RunStatus) -> EvaluationPlan:
    if not (results_dir / status.run_id / MANIFEST).exists():
        why = f" ({status.problem})" if status.problem else ""
        raise StorageError(
            f"run {status.run_id} cannot go on, for nothing of it was begun{why}; start it again: "
            "greenroom run"
        )
    return load_manifest(results_dir, status.run_id).plan


async def _resume(
    run_id: str,
    plan: EvaluationPlan,
    settings: Settings,
    parsed: argparse.Namespace,
    display: Display,
) -> EvaluationReport:
    from adk_agent.assembly import Assembly  # ADK takes seconds: not for a run that is not there

    this_task = asyncio.current_task()
    if this_task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this_task.cancel)
    tokens = {}
    if parsed.token is not None:
        token = read_token(parsed.token)
        everyone = plan.members or plan.participants
        tokens = {each.address: token for each in everyone if each.builtin is None}
    assembly = Assembly(settings=settings, timeout_s=parsed.timeout, tokens=tokens)
    display.start(settings.results_dir)
    report = await resume(run_id, assembly.evaluation_deps(), on_progress=display.see)
    explain_by_rules(settings.results_dir, report)
    display.close()
    return report
