"""`greenroom list tasks`: the tasks of a domain, or those of all domains about a topic."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adk_agent.cli import values
from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import one_line
from adk_agent.requests.find_tasks import FoundTask, TaskSearch
from tau_bridge.benchmarks import Benchmarks

_TITLE_WIDTH = 76
_ID_WIDTH = 44


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags that choose tasks."""
    parser.add_argument("--domain", metavar="DOMAIN", help="the domain of the tasks")
    parser.add_argument("--split", metavar="SPLIT", default="base", help="default: base")
    parser.add_argument("--about", metavar="TOPIC", help="tasks whose texts have all these words")
    parser.add_argument(
        "--where",
        type=values.condition,
        action="append",
        default=[],
        metavar="CONDITION",
        help='tasks with an attribute, such as persona=hard or "gold_actions>=3"; repeatable',
    )
    parser.add_argument(
        "--limit", type=values.positive, metavar="N", help="at most N tasks of each domain"
    )


def rows(parsed: argparse.Namespace, benchmarks: Benchmarks) -> list[dict[str, Any]]:
    """Return the tasks, as JSON."""
    where = dict(parsed.where)
    if parsed.domain is None and not (parsed.about or where):
        raise RequestError(
            f"list tasks needs --about TOPIC or --domain: one of {', '.join(benchmarks.domains)}"
        )
    found = TaskSearch(benchmarks).find_in(
        benchmarks.domains if parsed.domain is None else (parsed.domain,),
        parsed.about or "",
        split=parsed.split,
        where=where,
        limit=parsed.limit,
    )
    return [_row(task, benchmarks, several=parsed.domain is None) for task in found]


def _row(task: FoundTask, benchmarks: Benchmarks, *, several: bool) -> dict[str, Any]:
    ref = task.ref
    info = benchmarks.of(ref.domain).task(ref.domain, ref.id)
    return {
        "task": ref.id,
        **({"domain": ref.domain} if several else {}),
        "basis": f"[{', '.join(info.components) or 'none'}]",
        "title": task.title,
        **({"reason": task.reason} if task.reason else {}),
        "attributes": dict(task.attributes),
    }


def lines(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each task, in columns; attributes that all tasks share are left out."""
    width = min(_ID_WIDTH, max((len(row["task"]) for row in listed), default=0))
    for row in listed:
        told = row.get("reason") or _attributes(row, listed)
        parts = [f"{row['task']:{width}}", row.get("domain"), row["basis"]]
        parts += [one_line(row["title"], _TITLE_WIDTH), told]
        yield "  ".join(filter(None, parts))


def _attributes(row: Mapping[str, Any], listed: Sequence[Mapping[str, Any]]) -> str:
    telling = {
        name: value
        for name, value in row["attributes"].items()
        if any(other["attributes"].get(name) != value for other in listed)
    }
    return f"({', '.join(f'{name} {value}' for name, value in telling.items())})" if telling else ""
