"""The `greenroom` command: the names of its commands. Each one is imported when it is asked for."""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

EPILOG = """\
exit codes: 0 fine, 1 a check failed, 2 the request or an argument cannot be used,
3 infrastructure was missing or the evaluation is incomplete, 130 interrupted
"""
COMMANDS = {
    "run": "evaluate agents, from a sentence or from AgentBeats JSON",
    "status": "show the progress of a run",
    "results": "show the results of a run",
    "cancel": "stop a run, from any process",
    "resume": "play the missing trials of a run",
    "view": "render a run as one page for a browser",
    "compare": "compare a run with an earlier one",
    "export": "export a run to another tool's format",
    "list": "list domains, tasks, exercises, bundled agents, teams, evaluators, metrics or runs",
    "score": "measure and judge recorded traces",
    "regrade": "score recorded conversations again",
    "serve": "serve the green agent over A2A",
    "agent": "serve a bundled purple agent",
}
"""Each command in a line. Its module has the same name."""
_MODULES = {"list": "listing"}
"""Modules of other names: `list` is a builtin."""
PLUGIN_THREAD = "plugin"
"""The name of the threads in `evals.isolation`, which is not imported for it."""
_COLLECTED_AFTER = (50_000, 10, 10)
"""Thresholds of the garbage collector: what is imported stays, and is most of what is made."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        parsed = build_parser().parse_args(arguments)
        edge = importlib.import_module("adk_agent.cli.edge")
    except KeyboardInterrupt:
        return 130
    code: int = edge.run_command(parsed.execute, parsed)
    return code


def console() -> NoReturn:
    """Run the command and end the process.

    A plugin that was given up on may still run in a thread. Python would wait for it to let go of
    the interpreter, and a plugin in compiled code would bring the process down.
    """
    gc.set_threshold(*_COLLECTED_AFTER)
    code = main()
    gc.freeze()  # a process that ends need not collect its garbage
    abandoned = any(thread.name == PLUGIN_THREAD for thread in threading.enumerate())
    if not abandoned:
        sys.exit(code)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, which its module fills in once it is needed."""

    def __init__(self, *, module: str, **options: Any) -> None:
        super().__init__(**options)
        self._module = module

    def loaded(self) -> CommandParser:
        """Add the arguments of the command, and return this parser."""
        if self._module:
            module = importlib.import_module(f"adk_agent.cli.{self._module}")
            self._module = ""
            module.add_arguments(self)
            self.set_defaults(execute=module.execute)
        return self

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse like argparse, which calls this for the command on the line, once it is loaded."""
        self.loaded()
        return super().parse_known_args(args, namespace)


class _Version(argparse.Action):
    """Print the installed version, which is only looked up when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        metadata = importlib.import_module("importlib.metadata")
        sys.stdout.write(f"greenroom {metadata.version('greenroom')}\n")
        parser.exit()


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="greenroom",
        description="Evaluates AI agents by talking to them over A2A.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="command", parser_class=CommandParser
    )
    for name, about in COMMANDS.items():
        commands.add_parser(name, help=about, module=_MODULES.get(name, name))
    return parser


if __name__ == "__main__":
    console()
