"""`greenroom list`."""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from adk_agent.cli import task_listing
from adk_agent.cli.edge import OK
from adk_agent.cli.flags import add_results_dir, no_run_in, settings_of
from adk_agent.core.errors import GreenroomError, RequestError, StorageError
from adk_agent.core.escaping import escape_controls, one_line
from adk_agent.core.settings import Settings, variables
from adk_agent.play.evaluators import graph_metrics, trace_evaluators
from adk_agent.runs.tracking import read_status, run_ids
from evals.graph.consistency import ACROSS_TRIALS, AcrossTrials
from evals.graph.metric import Metric
from tau_bridge.benchmark import Benchmark
from tau_bridge.benchmarks import Benchmarks, open_benchmarks
from tau_bridge.teams import teams

_REQUEST_WIDTH = 76


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "what", help=f"{', '.join(LISTS)}, or the name of a benchmark, such as exercises"
    )
    task_listing.add_arguments(parser)
    add_results_dir(parser)
    parser.add_argument("--json", action="store_true", help="as JSON")


def execute(parsed: argparse.Namespace) -> int:
    """Print the requested list."""
    rows = _rows(parsed)
    if parsed.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        is_tasks = parsed.what == "tasks"
        for line in task_listing.lines(rows) if is_tasks else map(_line, rows):
            print(escape_controls(line))
    return OK


def _line(row: dict[str, Any]) -> str:
    return "  ".join(" ".join(str(value).split()) for value in row.values())


def _rows(parsed: argparse.Namespace) -> list[dict[str, Any]]:
    listed = LISTS.get(parsed.what)
    if listed is not None:
        return listed(parsed)
    opened = _benchmarks()
    benchmarks = {each.name: each for each in opened.all}
    if parsed.what not in benchmarks:
        if parsed.what in opened.domains:
            raise RequestError(
                f"{parsed.what!r} is a domain: write greenroom list tasks --domain {parsed.what}"
            )
        raise RequestError(
            f"cannot list {parsed.what!r}: write {', '.join(LISTS)}, or the name of a benchmark: "
            f"{', '.join(benchmarks)}"
        )
    return _of_benchmark(benchmarks[parsed.what])


def _benchmarks() -> Benchmarks:
    opened = open_benchmarks(variables, strict=False)
    _warn(opened.warnings)
    return opened


def _warn(warnings: Iterable[str]) -> None:
    for warning in warnings:
        print(f"greenroom: {escape_controls(warning)}", file=sys.stderr)


def _domains(_: argparse.Namespace) -> list[dict[str, Any]]:
    return [
        {
            "domain": domain.name,
            "tasks": f"{len(benchmark.task_ids(domain.name))} {domain.noun}",
            "splits": ", ".join(benchmark.splits(domain.name)),
            "source": revision.source,
            "revision": revision.revision,
        }
        for benchmark in _benchmarks().all
        for domain in benchmark.domains()
        for revision in [benchmark.revision(domain.name)]
    ]


def _tasks(parsed: argparse.Namespace) -> list[dict[str, Any]]:
    return task_listing.rows(parsed, _benchmarks())


def _of_benchmark(benchmark: Benchmark) -> list[dict[str, Any]]:
    """List all tasks of a benchmark with their attributes."""
    domains = benchmark.domains()
    return [
        {
            domain.noun.removesuffix("s"): task.ref.id,
            **({"domain": domain.name} if len(domains) > 1 else {}),
            "title": task.title,
            **task.attributes,
        }
        for domain in domains
        for task in benchmark.tasks(domain.name)
    ]


def _teams(_: argparse.Namespace) -> list[dict[str, Any]]:
    return [
        {
            "team": f"team:{team.name}",
            "members": f"{len(team.members)} members",
            "labels": f"[{', '.join(team.labels)}]",
            "about": team.description,
        }
        for team in teams().values()
    ]


def _evaluators(_: argparse.Namespace) -> list[dict[str, Any]]:
    registry = trace_evaluators(without=Settings.load().without)
    _warn(registry.warnings)
    return [
        {
            "evaluator": evaluator.name,
            "tier": f"tier {int(evaluator.tier)}",
            "version": evaluator.version,
            "about": " ".join((inspect.getdoc(type(evaluator)) or "").split("\n\n")[0].split()),
        }
        for evaluator in registry.all
    ]


def _metrics(_: argparse.Namespace) -> list[dict[str, Any]]:
    metrics = graph_metrics()[0]
    _warn(trace_evaluators().warnings)
    listed: list[Metric | AcrossTrials] = [*metrics, *ACROSS_TRIALS]
    return [
        {
            "metric": metric.name,
            "range": metric.range,
            "formula": metric.formula,
            "needs": metric.needs,
            "source": metric.source,
        }
        for metric in listed
    ]


def _runs(parsed: argparse.Namespace) -> list[dict[str, Any]]:
    results_dir = settings_of(parsed).results_dir
    found = run_ids(results_dir)
    if not found:
        print(escape_controls(f"greenroom: {no_run_in(results_dir)}"), file=sys.stderr)
    return [_run_row(results_dir, run_id) for run_id in found]


def _run_row(results_dir: Path, run_id: str) -> dict[str, Any]:
    try:
        status = read_status(results_dir, run_id)
    except StorageError as error:  # from another version, or just deleted: still list the others
        return {"run": run_id, "state": "unreadable", "trials": "", "request": str(error)}
    progress = status.progress
    return {
        "run": run_id,
        "state": status.state,
        "trials": f"{progress.done}/{progress.total}" if progress is not None else "",
        "request": one_line(escape_controls(status.request), _REQUEST_WIDTH),
    }


def _agents(_: argparse.Namespace) -> list[dict[str, Any]]:
    listed = subprocess.run(
        [sys.executable, "-P", "-m", "purple_agent", "--list"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        raise GreenroomError(f"cannot list the bundled agents: {listed.stderr.strip()[-300:]}")
    rows = []
    for line in listed.stdout.splitlines():
        name, about = line.strip().split(maxsplit=1)
        rows.append({"agent": f"builtin:{name}", "about": about})
    return rows


LISTS = {
    "domains": _domains,
    "tasks": _tasks,
    "agents": _agents,
    "teams": _teams,
    "evaluators": _evaluators,
    "metrics": _metrics,
    "runs": _runs,
}
"""The lists by name."""
