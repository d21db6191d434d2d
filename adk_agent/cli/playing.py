"""Plays an evaluation for `run` and `resume`, with its display and exit code."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from adk_agent.cli.budget import budget_of
from adk_agent.cli.edge import INTERRUPTED
from adk_agent.cli.flags import DEFAULT_TIMEOUT_S, resume_command
from adk_agent.cli.terminal import say, write_data
from adk_agent.core.errors import GreenroomError
from adk_agent.core.settings import Settings
from adk_agent.requests.config_file.reading import LoadedConfig
from adk_agent.results.report import EvaluationReport

if TYPE_CHECKING:
    from adk_agent.assembly import Assembly
    from adk_agent.cli.display import Display
    from adk_agent.cli.export import NamedExport
    from adk_agent.play.stop_rule import StopRule
    from tau_bridge.a2a.credentials import Credentials
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
    credentials: Mapping[str, Credentials] = MappingProxyType({}),
    benchmarks: Benchmarks | None = None,
    config: LoadedConfig | None = None,
) -> Assembly:
    """Build the assembly that the flags ask for."""
    from adk_agent.assembly import Assembly

    return Assembly(
        settings=settings,
        timeout_s=parsed.timeout or DEFAULT_TIMEOUT_S,
        credentials=dict(credentials),
        benchmarks=benchmarks,
        config=config,
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
    exports: Sequence[NamedExport] = (),
) -> int:
    """Play an evaluation, show its progress and results, and return the exit code.

    Args:
        work: Plays it and shows its progress on the display.
        parsed: The arguments of a command with the flags of `add_playing`.
        settings: The settings, with the folder of runs.
        run_id: The run to resume; None for a new one.
        loop: Runs it on an event loop that is there already; None for one of its own.
        exports: What is written after the run; one that cannot be makes the exit code 3.
    """
    display = _display(parsed, settings)
    try:
        report = (asyncio if loop is None else loop).run(_until_terminated(work, display))
    except (KeyboardInterrupt, asyncio.CancelledError):
        kept = _kept(display.run_id or run_id, settings, parsed)
        say(f"greenroom: interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    except GreenroomError as error:
        kept = _kept(display.run_id, settings, parsed)
        say(f"greenroom: {error}{kept}", file=sys.stderr)
        return error.exit_code
    finally:
        display.close()
    code = conclude(report, parsed, settings)
    stream = sys.stderr if parsed.json else sys.stdout
    codes = [each.write(report.run_id, settings, stream) for each in exports]
    return max([code, *codes])


def conclude(report: EvaluationReport, parsed: argparse.Namespace, settings: Settings) -> int:
    """Show the results of a run and return the exit code."""
    from adk_agent.cli import fault_gate, gate

    if parsed.json:
        write_data(report.to_json())
    _display(parsed, settings).result(report)
    return max(
        gate.exit_code(report, parsed.fail_under),
        gate.isolation_code(report),
        fault_gate.fault_code(report, parsed),
    )


def _display(parsed: argparse.Namespace, settings: Settings) -> Display:
    from adk_agent.cli.display import Display  # imports rich, which a dry run does not need

    return Display(
        settings.results_dir, quiet=parsed.quiet, to_stderr=parsed.json, moves=not settings.ci
    )


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
