"""Flags that choose agents, domains and tasks, and files of the user's own tasks."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from adk_agent.cli import values
from adk_agent.conversation.replies import Reading
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import BUILTIN_PREFIX, EvaluationRequest, Selection
from adk_agent.core.settings import variables
from adk_agent.requests.agents import BUNDLED_AGENTS, parse_address, with_roles
from adk_agent.requests.intent import Evaluate
from tau_bridge.benchmarks import Benchmarks, open_benchmarks

READ_BY_FLAGS = "flags"


def add_files(parser: argparse.ArgumentParser) -> None:
    """Add the flags for files of tasks."""
    parser.add_argument(
        "--tasks",
        action="append",
        metavar="FILE",
        help="a file of your own tasks (YAML, JSON, JSON Lines, CSV); may be repeated",
    )
    add_code(parser)


def add_code(parser: argparse.ArgumentParser) -> None:
    """Add the flag that allows the code of task files."""
    parser.add_argument(
        "--allow-code",
        action="store_true",
        help="run the code that 'python:' checks of task files name",
    )


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the flags by which an evaluation is chosen without a sentence."""
    parser.add_argument(
        "--agent",
        action="append",
        metavar="URL",
        help="an agent to evaluate, in place of a sentence; may be repeated",
    )
    parser.add_argument(
        "--domain", action="append", metavar="NAME", help="a domain to play, with --agent"
    )
    parser.add_argument(
        "--num-tasks",
        type=values.positive,
        metavar="N",
        help="play this many tasks of each domain, a sample drawn by the seed",
    )
    parser.add_argument("--task-ids", metavar="IDS", help="the tasks to play: 3,7 or refund-17")


def opened(parsed: argparse.Namespace, text: str) -> tuple[Benchmarks, str, tuple[str, ...]]:
    """Open all benchmarks, with the files of tasks that flags and the text name.

    Returns:
        The benchmarks; the text with the name of its domain for each file; the domains of `--tasks`.

    Raises:
        RequestError: A file is not there.
        tau_bridge.errors.DataError: A file cannot be used.
    """
    benchmarks = open_benchmarks(variables)
    allow_code = getattr(parsed, "allow_code", False)
    chosen: list[str] = []
    for given in getattr(parsed, "tasks", None) or ():
        path = Path(given).expanduser()
        if not path.is_file():
            raise RequestError(f"--tasks: there is no file {given!r}")
        benchmarks, names = benchmarks.with_file(path, allow_code=allow_code)
        chosen += names
    for word in _file_words(text, benchmarks):
        path = Path(word).expanduser()
        if path.is_file():
            benchmarks, names = benchmarks.with_file(path, allow_code=allow_code)
            text = text.replace(word, " and ".join(names))
        elif re.search(rf"\b(?:on|file)\s+['\"]?{re.escape(word)}", text, re.IGNORECASE):
            raise RequestError(_no_file(path))
    return benchmarks, text, tuple(dict.fromkeys(chosen))


def with_files(paths: Iterable[str], *, allow_code: bool) -> Benchmarks:
    """Open all benchmarks, with files of tasks.

    Raises:
        tau_bridge.errors.DataError: A file is not there, or cannot be used.
    """
    benchmarks = open_benchmarks(variables)
    for path in paths:
        benchmarks, _ = benchmarks.with_file(Path(path), allow_code=allow_code)
    return benchmarks


def _no_file(path: Path) -> str:
    try:
        there = sorted(each.name for each in path.parent.iterdir() if each.is_file())
    except OSError:
        there = []
    names = {name.casefold(): name for name in there}
    near = difflib.get_close_matches(path.name.casefold(), names, n=1)
    meant = f": did you mean {str(path.with_name(names[near[0]]))!r}?" if near else ""
    return f"there is no file {str(path)!r} here{meant}"


def _file_words(text: str, benchmarks: Benchmarks) -> list[str]:
    """Return the words of a sentence that may name a file of tasks."""
    suffixes = "|".join(map(re.escape, benchmarks.file_suffixes))
    if not suffixes or text.lstrip().startswith("{"):
        return []
    return re.findall(rf"(?<![\w/:.~-])[\w./~-]+(?:{suffixes})(?![\w/:-])", text, re.IGNORECASE)


def reading_of(parsed: argparse.Namespace, domains: tuple[str, ...]) -> Reading:
    """Return the evaluation that the flags ask for.

    Args:
        parsed: With the flags of `add_choice`.
        domains: Those of `--tasks`.

    Raises:
        RequestError: Something is missing.
    """
    domains = (*domains, *(parsed.domain or ()))
    if not domains:
        raise RequestError(
            "--agent needs what to play: --tasks FILE, or --domain; see: greenroom list domains"
        )
    ids = tuple(each.strip() for each in (parsed.task_ids or "").split(",") if each.strip())
    if ids and (len(domains) > 1 or parsed.num_tasks is not None):
        raise RequestError("--task-ids goes with one domain, and without --num-tasks")
    selections = tuple(
        Selection(domain=domain, task_ids=ids or None, num_tasks=parsed.num_tasks)
        for domain in dict.fromkeys(domains)
    )
    request = EvaluationRequest(
        participants=with_roles(list(dict.fromkeys(map(_address, parsed.agent)))),
        selections=selections,
        named_size=bool(parsed.tasks),
        reasoning="Chosen by flags.",
    )
    return Reading(
        intent=Evaluate(request=request),
        text=f"{' and '.join(parsed.agent)} on {' and '.join(domains)}",
        read_by=READ_BY_FLAGS,
    )


def _address(given: str) -> str:
    """Return an address in normal form; a bundled agent may be given by its name alone."""
    return parse_address(BUILTIN_PREFIX + given if given in BUNDLED_AGENTS else given)


def refuse_without_agent(parsed: argparse.Namespace) -> None:
    """Refuse flags that choose something where a sentence does it.

    Raises:
        RequestError: There is one.
    """
    for name in ("domain", "num_tasks", "task_ids"):
        if getattr(parsed, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise RequestError(f"{flag} goes with --agent: with a sentence, write it there")
