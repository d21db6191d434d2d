"""Plays an evaluation for `run` and `resume`, with its display and exit code."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from adk_agent.cli.budget import budget_of
from adk_agent.cli.edge import INTERRUPTED
from adk_agent.cli.flags import read_token, resume_command
from adk_agent.core.errors import GreenroomError
from adk_agent.core.escaping import escape_controls
from adk_agent.core.plan import EvaluationPlan
from adk_agent.core.settings import Settings
from adk_agent.results.report import EvaluationReport

if TYPE_CHECKING:
    from adk_agent.assembly import Assembly
    from adk_agent.cli.display import Display
    from adk_agent.play.stop_rule import StopRule
    from tau_bridge.benchmarks import Benchmarks


def stop_rule_of(parsed: argparse.Namespace) -> StopRule | None:
    """Return the rule of the flag `--stop-when`, or None.

    Raises:
        RequestError: The rule cannot be parsed.
    """
    from adk_agent.play.stop_rule import parse_stop_rule

    return None if parsed.stop_when is None else parse_stop_rule(parsed.stop_when)


def assembly_of(
    parsed: argparse.Namespace,
    settings: Settings,
    *,
    plan: EvaluationPlan | None,
    benchmarks: Benchmarks | None = None,
) -> Assembly:
    """Build the assembly that the flags ask for; the token goes only to the plan's agents."""
    from adk_agent.assembly import Assembly

    tokens = {}
    if parsed.token is not None and plan is not None:
        everyone = plan.members or plan.participants
        remote = [each.address for each in everyone if each.builtin is None]
        tokens = dict.fromkeys(remote, read_token(parsed.token))
    return Assembly(
        settings=settings,
        timeout_s=parsed.timeout,
        tokens=tokens,
        benchmarks=benchmarks,
        cache_dir=Path(parsed.cache) if parsed.cache else None,
        stop_rule=stop_rule_of(parsed),
        budget=budget_of(parsed),
        executor=parsed.executor,
    )


def play(
    work: Callable[[Display], Awaitable[EvaluationReport]],
    parsed: argparse.Namespace,
    settings: Settings,
    *,
    run_id: str | None = None,
    loop: asyncio.Runner | None = None,
) -> int:
    """Play an evaluation, show its progress and results, and return the exit code.

    Args:
        work: Plays it and shows its progress on the display.
        parsed: The arguments of a command with the flags of `add_playing`.
        settings: The settings, with the folder of runs.
        run_id: The run to resume; None for a new one.
        loop: Runs it on an event loop that is there already; None for one of its own.
    """
    display = _display(parsed, settings)
    try:
        report = (asyncio if loop is None else loop).run(_until_terminated(work, display))
    except (KeyboardInterrupt, asyncio.CancelledError):
        kept = _kept(display.run_id or run_id, settings, parsed)
        print(f"greenroom: interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    except GreenroomError as error:
        kept = _kept(display.run_id, settings, parsed)
        print(escape_controls(f"greenroom: {error}{kept}"), file=sys.stderr)
        return error.exit_code
    finally:
        display.close()
    return conclude(report, parsed, settings)


def conclude(report: EvaluationReport, parsed: argparse.Namespace, settings: Settings) -> int:
    """Show the results of a run and return the exit code."""
    from adk_agent.cli import gate

    if parsed.json:
        sys.stdout.write(report.to_json())
    _display(parsed, settings).result(report)
    return gate.exit_code(report, parsed.fail_under)


def _display(parsed: argparse.Namespace, settings: Settings) -> Display:
    from adk_agent.cli.display import Display  # imports rich, which a dry run does not need

    return Display(settings.results_dir, quiet=parsed.quiet, to_stderr=parsed.json)


async def _until_terminated(
    work: Callable[[Display], Awaitable[EvaluationReport]], display: Display
) -> EvaluationReport:
    """Do the work, and cancel it on SIGTERM."""
    this_task = asyncio.current_task()
    if this_task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, this_task.cancel)
    display.start()
    try:
        return await work(display)
    finally:
        display.close()


def _kept(run_id: str | None, settings: Settings, parsed: argparse.Namespace) -> str:
    """Say where the finished trials of an unfinished run are, and how to resume it."""
    if run_id is None:
        return ""
    folder = settings.results_dir / run_id
    return f"; finished trials are kept in {folder}; resume with: {resume_command(run_id, parsed)}"
