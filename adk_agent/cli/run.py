"""`greenroom run`."""

from __future__ import annotations

import argparse
import asyncio
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from adk_agent.cli import values
from adk_agent.cli.edge import INTERRUPTED, OK
from adk_agent.cli.playing import (
    add_playing,
    playing_flags,
    read_token,
    resume_command,
    stop_rule_of,
)
from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_controls
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.core.settings import Settings, variables
from adk_agent.requests.by_rules import plan_by_rules
from adk_agent.requests.description import describe, equivalent_command
from adk_agent.requests.registry import AgentRegistry
from tau_bridge.benchmarks import open_benchmarks

if TYPE_CHECKING:
    from adk_agent.assembly import Assembly
    from adk_agent.cli.display import Display


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the command."""
    parser.description = "Evaluate agents. A flag beats what the request says."
    parser.epilog = (
        'example: greenroom run "Evaluate the agent at http://127.0.0.1:9010 on five DOMAIN '
        'tasks, two trials each"; greenroom list domains names the domains'
    )
    parser.add_argument("request", help="a sentence, or AgentBeats JSON; - reads standard input")
    parser.add_argument(
        "--num-trials", type=values.positive, metavar="K", help="trials of each task"
    )
    parser.add_argument(
        "--max-concurrency",
        type=values.positive,
        metavar="N",
        help="conversations at once (default 4)",
    )
    parser.add_argument(
        "--seed", type=values.natural, metavar="S", help="seed of the trials (default 300)"
    )
    parser.add_argument(
        "--max-steps",
        type=values.positive,
        metavar="N",
        help="steps of a conversation (default 200)",
    )
    parser.add_argument(
        "--limit", type=values.positive, metavar="N", help="at most this many tasks of each domain"
    )
    parser.add_argument(
        "--option",
        type=values.option,
        action="append",
        metavar="NAME=VALUE",
        help="an option of a benchmark; may be repeated",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="print the plan and the explicit command; contact nobody",
    )
    add_playing(parser)


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
        options=dict(parsed.option or ()),
    )
    settings = Settings.load(
        results_dir=Path(parsed.results_dir) if parsed.results_dir else None,
        offline=parsed.offline or None,
    )
    stop_rule_of(parsed)  # one that cannot be read is refused before anything is done
    benchmarks = open_benchmarks(variables)

    def plan() -> EvaluationPlan:
        registered = AgentRegistry(settings.results_dir).addresses()
        return plan_by_rules(text, benchmarks, registered=registered, overrides=overrides)

    if parsed.dry_run:
        return _dry_run(plan(), settings, parsed)
    # Where a model reads, the rules only say to which addresses the token may go.
    planned = plan() if settings.by_rules or parsed.token is not None else None
    from adk_agent.assembly import Assembly

    assembly = Assembly(
        settings=settings,
        timeout_s=parsed.timeout,
        tokens={} if planned is None else _tokens(parsed.token, planned),
        benchmarks=benchmarks,
        cache_dir=Path(parsed.cache) if parsed.cache else None,
        stop_rule=stop_rule_of(parsed),
        executor=parsed.executor,
    )
    return _evaluate(text, overrides, planned, assembly, parsed)


def _dry_run(plan: EvaluationPlan, settings: Settings, parsed: argparse.Namespace) -> int:
    """Print the plan as the rules read it; no model is asked and nobody is contacted."""
    if parsed.json:
        print(plan.model_dump_json(indent=2))
    else:
        print(escape_controls(describe(plan)))
        command = f"{equivalent_command(plan)} {shlex.join(playing_flags(parsed))}".rstrip()
        if settings.agent_model is not None or settings.model_configured:
            print(
                "\nRead by fixed rules; the configured model reads a request too, and must agree."
            )
        print(escape_controls(f"\nThe same, explicitly:\n{command}"))
    return OK


def _evaluate(
    text: str,
    overrides: Overrides,
    plan: EvaluationPlan | None,
    assembly: Assembly,
    parsed: argparse.Namespace,
) -> int:
    from adk_agent.cli.display import Display

    display = Display(quiet=parsed.quiet, to_stderr=parsed.json)
    try:
        return asyncio.run(_run(text, overrides, plan, assembly, parsed, display))
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
    plan: EvaluationPlan | None,
    assembly: Assembly,
    parsed: argparse.Namespace,
    display: Display,
) -> int:
    from adk_agent.cli import gate

    loop = asyncio.get_running_loop()
    this_task = asyncio.current_task()
    if this_task is not None:
        loop.add_signal_handler(signal.SIGTERM, this_task.cancel)
    display.start(assembly.settings.results_dir)
    pipeline = assembly.pipeline()
    if plan is not None and assembly.settings.by_rules:
        outcome = await pipeline.run_plan(plan, request=text, on_progress=display.show)
    else:
        outcome = await pipeline.run_request(text, overrides=overrides, on_progress=display.show)
    display.close()
    if outcome.problem is not None:
        kept = _kept(display, parsed)
        print(escape_controls(f"greenroom: {outcome.problem.message}{kept}"), file=sys.stderr)
        return outcome.problem.exit_code
    if outcome.report is None:
        raise RequestError("the workflow ended without a run; this is a fault of greenroom")
    if parsed.json:
        sys.stdout.write(outcome.report.to_json())
    display.result(outcome.report)
    return gate.exit_code(outcome.report, parsed.fail_under)


def _tokens(token: str | None, plan: EvaluationPlan) -> dict[str, str]:
    """The token for each address of the plan, and for no other."""
    if token is None:
        return {}
    read = read_token(token)
    return {p.address: read for p in plan.participants if p.builtin is None}
