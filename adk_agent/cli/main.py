"""The `greenroom` command: arguments only. Each command is imported when it is run."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

EPILOG = """\
exit codes: 0 fine, 1 a check failed, 2 the request or an argument cannot be used,
3 infrastructure was missing or the evaluation is incomplete, 130 interrupted
"""


DEFAULT_TIMEOUT_S = 300.0
PLUGIN_THREAD = "plugin"
"""The name of the threads in `evals.isolation`, which is not imported for it."""
EXECUTORS = ["local", "ray"]
RETRIED = ["failed", "unscored", "all"]
LISTED = ["domains", "tasks", "exercises", "agents", "teams", "evaluators", "metrics", "runs"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parsed = build_parser().parse_args(arguments)
    try:
        module = importlib.import_module(f"adk_agent.cli.{parsed.module}")
        edge = importlib.import_module("adk_agent.cli.edge")
    except KeyboardInterrupt:
        return 130
    code: int = edge.run_command(module.execute, parsed)
    return code


def console() -> NoReturn:
    """The command as a program: runs it, and ends the process.

    A plugin that was given up on may still run in a thread. Python would wait for it to let go of
    the interpreter, and a plugin in compiled code would bring the process down.
    """
    code = main()
    abandoned = any(thread.name == PLUGIN_THREAD for thread in threading.enumerate())
    if not abandoned:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="greenroom",
        description="Evaluates AI agents by talking to them over A2A.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    _add_run(commands)
    _add_status(commands)
    _add_results(commands)
    _add_cancel(commands)
    _add_resume(commands)
    _add_view(commands)
    _add_compare(commands)
    _add_export(commands)
    _add_list(commands)
    _add_score(commands)
    _add_regrade(commands)
    _add_serve(commands)
    _add_agent(commands)
    return parser


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return value


def _natural(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return value


def _port(text: str) -> int:
    value = _natural(text)
    if value > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: there are 0 to 65535")
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    run = commands.add_parser(
        "run",
        help="evaluate agents, from a sentence or from AgentBeats JSON",
        description="Evaluate agents. A flag beats what the request says.",
        epilog='example: greenroom run "Evaluate the agent at http://127.0.0.1:9010 on five '
        'airline tasks, two trials each"',
    )
    run.set_defaults(module="run")
    run.add_argument("request", help="a sentence, or AgentBeats JSON; - reads standard input")
    run.add_argument("--num-trials", type=_positive, metavar="K", help="trials of each task")
    run.add_argument(
        "--max-concurrency", type=_positive, metavar="N", help="conversations at once (default 4)"
    )
    run.add_argument("--seed", type=_natural, metavar="S", help="seed of the trials (default 300)")
    run.add_argument(
        "--max-steps", type=_positive, metavar="N", help="steps of a conversation (default 200)"
    )
    run.add_argument(
        "--limit", type=_positive, metavar="N", help="at most this many tasks of each domain"
    )
    run.add_argument(
        "--dry-run",
        action="store_true",
        help="print the plan and the explicit command; contact nobody",
    )
    _add_playing(run)


def _add_playing(parser: argparse.ArgumentParser) -> None:
    """The arguments of every command that plays trials."""
    _add_results_dir(parser)
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=DEFAULT_TIMEOUT_S,
        metavar="S",
        help="seconds that an agent may take over one reply (default 300)",
    )
    parser.add_argument(
        "--token",
        metavar="TOKEN",
        help="bearer token for the agents of the request; @FILE reads it from a file",
    )
    parser.add_argument(
        "--fail-under",
        type=_share,
        metavar="SHARE",
        help="exit code 1 where an agent's pass^1 is below this, 0 to 1",
    )
    parser.add_argument(
        "--stop-when",
        metavar="RULE",
        help='stop early, for example when "interval < 0.05" or "failed > 10"',
    )
    parser.add_argument(
        "--executor",
        choices=EXECUTORS,
        default="local",
        help="where trials are played: here (default), or on a Ray cluster (needs the extra ray)",
    )
    parser.add_argument(
        "--cache",
        metavar="DIR",
        help="keep answers of language models here, and use those that are there",
    )
    parser.add_argument("--offline", action="store_true", help="use no language model")
    parser.add_argument(
        "--json", action="store_true", help="the report on stdout, everything else on stderr"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")


def _add_results_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results-dir", metavar="DIR", help="where runs are kept (default results)"
    )


def _add_status(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    status = commands.add_parser(
        "status",
        help="how far a run is",
        description="Tell how far a run is, whichever process plays it. With --follow the exit "
        "code is that of the run.",
    )
    status.set_defaults(module="status")
    status.add_argument("run", nargs="?", help="the run's id; the latest by default")
    status.add_argument("--follow", action="store_true", help="go on telling until it ends")
    status.add_argument(
        "--watch",
        action="store_true",
        help="the same on one screen: time left, failures, the pass rate with its interval",
    )
    _add_results_dir(status)
    status.add_argument("--json", action="store_true", help="as JSON, a line for each change")


def _add_results(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    results = commands.add_parser(
        "results",
        help="what a run has found",
        description="Show what a run has found, also while it goes on. Exit code 3 where it is "
        "not complete.",
    )
    results.set_defaults(module="results")
    results.add_argument("run", nargs="?", help="the run's id; the latest by default")
    _add_results_dir(results)
    results.add_argument("--json", action="store_true", help="the whole report as JSON")


def _add_cancel(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    cancel = commands.add_parser(
        "cancel",
        help="stop a run, whichever process plays it",
        description="Stop a run, whichever process plays it. What was finished is kept.",
    )
    cancel.set_defaults(module="cancel")
    cancel.add_argument("run", help="the run's id")
    _add_results_dir(cancel)


def _add_resume(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    resume = commands.add_parser(
        "resume",
        help="play what is missing of a run",
        description="Go on with a run that was interrupted: play the trials that are missing or "
        "failed, and report all of it.",
    )
    resume.set_defaults(module="resume")
    resume.add_argument("run", help="the run's id")
    resume.add_argument(
        "--retry",
        choices=RETRIED,
        default="failed",
        help="which trials that ended are played again: those that failed (default), those "
        "without a score too, or all",
    )
    _add_playing(resume)


def _add_view(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    view = commands.add_parser(
        "view",
        help="a run as one page for a browser",
        description="Write a run's report.html, one file that needs no network, and open it.",
    )
    view.set_defaults(module="view")
    view.add_argument("run", nargs="?", help="the run's id; the latest by default")
    view.add_argument("--out", metavar="FILE", help="where to write it (default: the run's folder)")
    view.add_argument("--no-open", action="store_true", help="open no browser")
    _add_results_dir(view)


def _add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    compare = commands.add_parser(
        "compare",
        help="whether a second run differs from a first",
        description="Compare two runs, paired by task: the difference with its interval, a "
        "permutation test, tasks gained and lost.",
    )
    compare.set_defaults(module="compare")
    compare.add_argument("first", help="the id of the run before")
    compare.add_argument("second", help="the id of the run after")
    compare.add_argument(
        "--fail-on-regression",
        action="store_true",
        help="exit code 1 where the second is significantly worse",
    )
    compare.add_argument(
        "--other-data", action="store_true", help="compare though the data revisions differ"
    )
    _add_results_dir(compare)
    compare.add_argument("--json", action="store_true", help="as JSON")


def _add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    export = commands.add_parser(
        "export",
        help="a run in the form of another tool",
        description="Write a run as another tool reads it.",
    )
    export.set_defaults(module="export")
    export.add_argument("run", nargs="?", help="the run's id; the latest by default")
    export.add_argument(
        "--to",
        required=True,
        metavar="FORMAT",
        help="inspect, junit, otlp, agentbeats, csv, or one that a benchmark brings",
    )
    export.add_argument(
        "--out", metavar="FILE", help="file, or folder where several are written; - is stdout"
    )
    _add_results_dir(export)


def _add_list(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    listing = commands.add_parser(
        "list",
        help="list domains, tasks, exercises, bundled agents, teams, evaluators, metrics or runs",
    )
    listing.set_defaults(module="listing")
    listing.add_argument("what", choices=LISTED)
    listing.add_argument("--domain", metavar="DOMAIN", help="whose tasks to list")
    listing.add_argument("--split", metavar="SPLIT", default="base", help="default: base")
    _add_results_dir(listing)
    listing.add_argument("--json", action="store_true", help="as JSON")


def _add_score(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    score = commands.add_parser(
        "score",
        help="measure and judge recorded traces",
        description="Measure and judge how agents work together, from a trace: one of ours, or an "
        "A2A ResponseTrace in either dialect; or from JSON lines {id, roster?, trace}. Gzip too. "
        "Exit code 2 where any trace could not be read; the others are scored.",
    )
    score.set_defaults(module="score")
    score.add_argument("trace", help="trace.json or traces.jsonl; - reads standard input")
    score.add_argument(
        "--roster", metavar="FILE", help="JSON with the names of all members of the team"
    )
    score.add_argument(
        "--without",
        metavar="NAME",
        action="append",
        help="switch an evaluator or a metric off; may be repeated",
    )
    score.add_argument("--offline", action="store_true", help="use no language model")
    score.add_argument("--json", action="store_true", help="one line of JSON for each trace")


def _add_regrade(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    regrade = commands.add_parser(
        "regrade",
        help="score recorded τ² conversations again",
        description="Score the conversations of an official results file again and compare "
        "with the recorded rewards. Recorded verdicts on natural-language statements are reused.",
    )
    regrade.set_defaults(module="regrade")
    regrade.add_argument("results", help="an official results.json, gzip too")
    regrade.add_argument("--json", action="store_true", help="as JSON")


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    serve = commands.add_parser("serve", help="serve the green agent over A2A")
    serve.set_defaults(module="serve")
    add_server_arguments(serve)


def add_server_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the A2A server, the same for `python -m adk_agent`."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=_port, default=None, help="default: $PORT, else 8000")
    parser.add_argument("--card-url", metavar="URL", help="the address that the card names")
    parser.add_argument(
        "--task-store",
        default="memory",
        metavar="STORE",
        help="where tasks are kept: memory (default) or sqlite:PATH",
    )
    parser.add_argument(
        "--grpc-port",
        type=_port,
        metavar="PORT",
        help="serve gRPC too, on this port (needs the extra grpc)",
    )


def _add_agent(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    agent = commands.add_parser(
        "agent", help="serve a bundled purple agent", description="Serve a bundled purple agent."
    )
    agent.set_defaults(module="agent")
    agent.add_argument("name", help="see: greenroom list agents")
    agent.add_argument("--host", default="127.0.0.1", help="address to listen on")
    agent.add_argument("--port", type=_port, default=9010, help="default 9010; 0: a free one")
    agent.add_argument("--card-url", metavar="URL", help="the address that the card names")


if __name__ == "__main__":
    console()
