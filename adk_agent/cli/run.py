"""`greenroom run`."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from adk_agent.cli import values
from adk_agent.cli.edge import OK
from adk_agent.cli.flags import add_playing, playing_flags, settings_of
from adk_agent.cli.playing import assembly_of, play, stop_rule_of
from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_controls
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.core.settings import Settings, variables
from adk_agent.requests.by_rules import plan_by_rules
from adk_agent.requests.description import describe, equivalent_command
from adk_agent.requests.registry import AgentRegistry
from adk_agent.results.report import EvaluationReport
from tau_bridge.benchmarks import open_benchmarks

if TYPE_CHECKING:
    from adk_agent.cli.display import Display


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = "Evaluate agents. Flags override the request."
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
        help="print the plan and the explicit command; contact no agent",
    )
    add_playing(parser)


def execute(parsed: argparse.Namespace) -> int:
    """Evaluate agents and return the exit code."""
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
    settings = settings_of(parsed)
    stop_rule_of(parsed)  # refuse an invalid rule before anything is done
    benchmarks = open_benchmarks(variables)
    plan = None
    # If a model reads the request, the rules only decide which addresses get the token.
    if parsed.dry_run or settings.by_rules or parsed.token is not None:
        registered = AgentRegistry(settings.results_dir).addresses()
        plan = plan_by_rules(text, benchmarks, registered=registered, overrides=overrides)
        if parsed.dry_run:
            return _dry_run(plan, settings, parsed)
    assembly = assembly_of(parsed, settings, plan=plan, benchmarks=benchmarks)

    async def work(display: Display) -> EvaluationReport:
        pipeline = assembly.pipeline()
        if plan is not None and settings.by_rules:
            outcome = await pipeline.run_plan(plan, request=text, on_progress=display.show)
        else:
            outcome = await pipeline.run_request(
                text, overrides=overrides, on_progress=display.show
            )
        return outcome.required_report()

    return play(work, parsed, settings)


def _dry_run(plan: EvaluationPlan, settings: Settings, parsed: argparse.Namespace) -> int:
    """Print the plan as the rules read it, without calling a model or an agent."""
    if parsed.json:
        print(plan.model_dump_json(indent=2))
        return OK
    print(escape_controls(describe(plan)))
    if settings.agent_model is not None or settings.model_configured:
        print("\nRead by fixed rules; the configured model reads a request too, and must agree.")
    command = f"{equivalent_command(plan)} {shlex.join(playing_flags(parsed))}".rstrip()
    print(escape_controls(f"\nThe same, explicitly:\n{command}"))
    return OK
