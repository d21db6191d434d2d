"""Flags that choose agents, domains and tasks, and files of the user's own tasks.

Where no flag chooses, the configuration file does.
"""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from adk_agent.cli import values
from adk_agent.cli.config import address_in_form, agents_of
from adk_agent.cli.selecting import Entries
from adk_agent.conversation.replies import Reading
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationRequest, Selection
from adk_agent.core.settings import variables
from adk_agent.requests.agents import with_roles
from adk_agent.requests.config_file.model import FILE
from adk_agent.requests.config_file.reading import LoadedConfig
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
        "--domain", action="append", metavar="NAME", help="a domain to play; may be repeated"
    )
    parser.add_argument(
        "--benchmark",
        action="append",
        metavar="NAME",
        help="a benchmark to play: all its domains, or those of --domain; may be repeated",
    )
    parser.add_argument(
        "--num-tasks",
        type=values.positive,
        metavar="N",
        help="play this many tasks of each domain, a sample drawn by the seed",
    )
    parser.add_argument("--task-ids", metavar="IDS", help="the tasks to play: 3,7 or refund-17")


def opened(
    parsed: argparse.Namespace, text: str, entries: Entries
) -> tuple[Benchmarks, str, Mapping[str, tuple[str, ...]]]:
    """Open all benchmarks, with the files of tasks that flags, a file and the text name.

    Returns:
        The benchmarks; the text with the name of its domain for each file; the domains of the files
        of `entries`.

    Raises:
        RequestError: A file is not there.
        tau_bridge.errors.DataError: A file cannot be used.
    """
    allow_code = getattr(parsed, "allow_code", False)
    benchmarks, files = entries.with_files(open_benchmarks(variables), allow_code=allow_code)
    for word in _file_words(text, benchmarks):
        path = Path(word).expanduser()
        if path.is_file():
            benchmarks, names = benchmarks.with_file(path, allow_code=allow_code)
            text = text.replace(word, " and ".join(names))
        elif re.search(rf"\b(?:on|file)\s+['\"]?{re.escape(word)}", text, re.IGNORECASE):
            raise RequestError(_no_file(path))
    return benchmarks, text, files


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


def reading_of(
    parsed: argparse.Namespace,
    config: LoadedConfig | None,
    selections: tuple[Selection, ...],
    registered: Mapping[str, str],
) -> Reading:
    """Return the evaluation that the flags ask for, and the file where no flag does.

    Args:
        parsed: With the flags of `add_choice`.
        config: The configuration file.
        selections: What is played.
        registered: The addresses of registered agents, by name.

    Raises:
        RequestError: An agent has no address.
    """
    agents = agents_of(parsed, config)
    from_file = config if parsed.agent is None else None
    given = [address_in_form(each, registered, from_file) for each in agents]
    participants = tuple(
        each if agent.name is None else each.model_copy(update={"role": agent.name})
        for each, agent in zip(with_roles(given), agents, strict=True)
    )
    request = EvaluationRequest(
        participants=participants,
        selections=selections,
        entry=None if from_file is None else from_file.content.entry,
        references=config is not None and config.content.references,
        named_size=bool(parsed.tasks),
        reasoning="Chosen by flags." if config is None else f"Chosen by {config.path.name}.",
    )
    domains = dict.fromkeys(each.domain for each in selections)
    text = f"{' and '.join(each.address for each in agents)} on {' and '.join(domains)}"
    return Reading(
        intent=Evaluate(request=request),
        text=text if config is None else f"{config.path.name}: {text}",
        read_by=READ_BY_FLAGS if config is None else config.path.name,
    )


def require_choice(
    parsed: argparse.Namespace, config: LoadedConfig | None, entries: Entries
) -> None:
    """Check that agents and tasks are named, where no sentence names them.

    Raises:
        RequestError: Something is missing; the message says what can be written.
    """
    who = "no flag" if config is None else f"neither a flag nor {config.path}"
    has_agent, has_tasks = bool(agents_of(parsed, config)), bool(entries.all)
    if has_agent and has_tasks:
        return
    if config is None and not (has_agent or has_tasks):
        raise RequestError(
            "nothing to evaluate: write a sentence, or --agent URL --domain NAME, or let "
            f"greenroom init write {FILE}"
        )
    if not has_agent:
        raise RequestError(
            f"{who} names an agent: write --agent URL, or --agent null for one that does nothing"
        )
    opened = open_benchmarks(variables, strict=False)
    raise RequestError(
        f"{who} says what to play: write\n"
        f"  --domain NAME     {', '.join(opened.domains)}\n"
        f"  --benchmark NAME  {', '.join(each.name for each in opened.all if each.domains())}\n"
        "  --tasks FILE      a file of your own; greenroom tasks new writes one"
    )


def refuse_choice(parsed: argparse.Namespace, config: LoadedConfig | None) -> None:
    """Refuse flags that choose something where a sentence does it.

    Raises:
        RequestError: There is one.
    """
    whose = "a sentence" if config is None else f"the request of {config.path}"
    if parsed.agent is not None:
        raise RequestError(f"write {whose} or --agent, not both".replace("write the", "use the"))
    for name in ("domain", "benchmark", "num_tasks", "task_ids"):
        if getattr(parsed, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise RequestError(f"{flag} goes with --agent: with {whose}, write it there")
