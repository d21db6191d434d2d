"""`greenroom run`."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from adk_agent.cli import gate
from adk_agent.cli.edge import INTERRUPTED, OK
from adk_agent.cli.tracked import playing_flags, resume_command
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.core.printable import printable
from adk_agent.core.settings import Settings, variables

if TYPE_CHECKING:
    from adk_agent.cli.display import Display
    from adk_agent.play.stop_rule import StopRule


def execute(parsed: argparse.Namespace) -> int:
    """Evaluate; the exit code says how it went."""
    text = sys.stdin.read() if parsed.request == "-" else parsed.request
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RequestError("the request is not valid UTF-8 text") from error
    overrides = Overrides(
        num_trials=parsed.num_trials,
        max_concurrency=parsed.max_concurrency,
        seed=parsed.seed,
        max_steps=parsed.max_steps,
        limit=parsed.limit,
    )
    settings = Settings.load(
        results_dir=Path(parsed.results_dir) if parsed.results_dir else None,
        offline=parsed.offline or None,
    )
    stop_rule_of(parsed)  # one that cannot be read is refused before anything is done
    if parsed.dry_run:
        return _dry_run(text, overrides, settings, parsed)
    return _evaluate(text, overrides, settings, parsed)


def _plan(text: str, overrides: Overrides, settings: Settings) -> EvaluationPlan:
    from adk_agent.requests.planning import resolve
    from adk_agent.requests.reader import Vocabulary, read_request
    from adk_agent.requests.registry import AgentRegistry
    from tau_bridge.benchmarks import open_benchmarks

    benchmarks = open_benchmarks(variables)
    registered = AgentRegistry(settings.results_dir).addresses()
    request = read_request(text, registered, vocabulary=Vocabulary.of(benchmarks))
    return resolve(request, benchmarks, overrides)


def _dry_run(
    text: str, overrides: Overrides, settings: Settings, parsed: argparse.Namespace
) -> int:
    """Print the plan as the rules read it; no model is asked and nobody is contacted."""
    from adk_agent.requests.planning import describe, equivalent_command

    plan = _plan(text, overrides, settings)
    if parsed.json:
        print(plan.model_dump_json(indent=2))
    else:
        print(printable(describe(plan)))
        command = f"{equivalent_command(plan)} {shlex.join(playing_flags(parsed))}".rstrip()
        if settings.agent_model is not None or settings.model_configured:
            print(
                "\nRead by fixed rules; the configured model reads a request too, and must agree."
            )
        print(printable(f"\nThe same, explicitly:\n{command}"))
    return OK


def _evaluate(
    text: str, overrides: Overrides, settings: Settings, parsed: argparse.Namespace
) -> int:
    from adk_agent.cli.display import Display

    if settings.agent_model is None and not settings.model_configured:
        _plan(text, overrides, settings)  # refuses in a moment what the workflow would refuse
    display = Display(quiet=parsed.quiet, to_stderr=parsed.json)
    try:
        return asyncio.run(_run(text, overrides, settings, parsed, display))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"greenroom: interrupted{_kept(display, parsed)}", file=sys.stderr)
        return INTERRUPTED
    finally:
        display.close()


def _kept(display: Display, parsed: argparse.Namespace) -> str:
    """Where the trials of a run are that did not come to its end, and how to go on with it."""
    if display.folder is None:
        return ""
    command = resume_command(display.folder.name, parsed)
    return f"; what was finished is kept in {display.folder}; go on with: {command}"


async def _run(
    text: str,
    overrides: Overrides,
    settings: Settings,
    parsed: argparse.Namespace,
    display: Display,
) -> int:
    from adk_agent.assembly import Assembly
    from adk_agent.runs.store import load_report
    from adk_agent.workflow.session import run_request

    loop = asyncio.get_running_loop()
    this_task = asyncio.current_task()
    if this_task is not None:
        loop.add_signal_handler(signal.SIGTERM, this_task.cancel)
    assembly = Assembly(
        settings=settings,
        timeout_s=parsed.timeout,
        tokens=_tokens(parsed.token, text, overrides, settings),
        cache_dir=Path(parsed.cache) if parsed.cache else None,
        stop_rule=stop_rule_of(parsed),
        executor=parsed.executor,
    )
    display.start(settings.results_dir)
    result = await run_request(
        assembly.root_agent(), text, overrides=overrides, on_progress=display.show
    )
    display.close()
    if result.problem is not None:
        kept = _kept(display, parsed)
        print(printable(f"greenroom: {result.problem.message}{kept}"), file=sys.stderr)
        return result.problem.exit_code
    if result.run_id is None:
        raise RequestError("the workflow ended without a run; this is a fault of greenroom")
    report = load_report(settings.results_dir, result.run_id)
    if parsed.json:
        sys.stdout.write(report.to_json())
    display.result(report)
    return gate.exit_code(report, parsed.fail_under)


def stop_rule_of(parsed: argparse.Namespace) -> StopRule | None:
    """The rule of the flag `--stop-when`; None where it is not given.

    Raises:
        RequestError: It cannot be read.
    """
    from adk_agent.play.stop_rule import parse_stop_rule

    return None if parsed.stop_when is None else parse_stop_rule(parsed.stop_when)


def _tokens(
    token: str | None, text: str, overrides: Overrides, settings: Settings
) -> dict[str, str]:
    """The token for each address of the request, and for no other."""
    if token is None:
        return {}
    token = read_token(token)
    plan = _plan(text, overrides, settings)
    return {p.address: token for p in plan.participants if p.builtin is None}


def read_token(token: str) -> str:
    """The bearer token of the flag `--token`: its value, or what is in the file behind an `@`.

    Raises:
        RequestError: There is no such file, or it cannot be a token.
    """
    if token.startswith("@"):
        path = Path(token[1:])
        try:
            token = path.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise RequestError(f"--token: cannot read {str(path)!r}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise RequestError(f"--token: {str(path)!r} is not a text file") from error
    if not token.isascii() or not token.isprintable() or not token or " " in token:
        raise RequestError("--token: a bearer token has one or more printable characters, no space")
    return token
