"""Lists of what there is: domains, tasks, agents, teams, runs, evaluators and metrics, as rows."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.replies import Answer, Asked
from adk_agent.conversation.telling import counted, table_of
from adk_agent.conversation.turn import Turn
from adk_agent.core.errors import GreenroomError, StorageError
from adk_agent.core.escaping import escape_controls, one_line
from adk_agent.play.evaluators import graph_metrics
from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.intent import ListThings, Question, Situation
from adk_agent.requests.registry import AgentRegistry
from adk_agent.runs.tracking import read_status, run_ids
from evals.driver import EvaluatorRegistry
from evals.graph.consistency import ACROSS_TRIALS, AcrossTrials
from evals.graph.metric import Metric
from tau_bridge.benchmark import BASE_SPLIT
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.teams import teams

Rows = list[dict[str, Any]]
MOST_LISTED = 40
"""Rows of one answer; `greenroom list` prints all."""
_MOST_CHARS = 120
"""Characters of one cell of an answer."""
_REQUEST_WIDTH = 76
_SHOWN = {
    "benchmarks": ("benchmark", "about", "domains"),
    "domains": ("domain", "tasks", "splits"),
    "metrics": ("metric", "range"),
    "evaluators": ("evaluator", "tier", "about"),
}
"""The columns of an answer, where it does not show all."""


def listed(intent: ListThings, turn: Turn) -> Answer | Asked:
    """Return what was asked to be listed, as a table.

    Raises:
        RequestError: No task is about the topic, or there is no such split.
        DataError: There is no such domain, or its data cannot be read.
        StorageError: The folder of runs cannot be read.
    """
    deps = turn.deps
    if intent.what == "tasks" and intent.domain is None and intent.about is None:
        domains = ", ".join(deps.benchmarks().domains)
        question = Question(
            text=f"The tasks of which domain? There are {domains}.", request=turn.text
        )
        return Asked(question=question)
    rows = _rows(intent, turn.situation, deps)
    if not rows:
        return Answer(text=f"There are no {intent.what} yet.")
    head = counted(len(rows), intent.what.removesuffix("s"))
    if intent.about is not None:
        head += f" about {intent.about!r}"
    if intent.domain is not None:
        head += f" in {intent.domain}"
    columns = _SHOWN.get(intent.what, tuple(rows[0]))
    cells = [
        tuple(one_line(str(row.get(name, "")), _MOST_CHARS) for name in columns)
        for row in rows[:MOST_LISTED]
    ]
    parts = [f"{head}:", table_of((columns, cells))]
    if len(rows) > MOST_LISTED:
        parts.append(f"... and {len(rows) - MOST_LISTED} more; `greenroom list` shows all.")
    return Answer(text="\n\n".join(parts))


def _rows(intent: ListThings, situation: Situation, deps: ConversationDeps) -> Rows:
    match intent.what:
        case "benchmarks":
            return of_benchmarks(deps.benchmarks())
        case "domains":
            return of_domains(deps.benchmarks())
        case "tasks":
            return of_tasks(deps.benchmarks(), intent.domain, intent.split, intent.about)
        case "agents":
            return of_agents(deps.registry)
        case "teams":
            return of_teams()
        case "evaluators":
            return of_evaluators(deps.evaluators())
        case "metrics":
            return of_metrics()
        case "runs":
            seen = run_ids(deps.results_dir) if deps.may_see_all_runs else situation.run_ids
            return of_runs(deps.results_dir, seen)


def of_domains(benchmarks: Benchmarks) -> Rows:
    """List the domains with the number of their tasks."""
    return [
        {
            "domain": domain.name,
            "tasks": f"{len(benchmark.task_ids(domain.name))} {domain.noun}",
            "splits": ", ".join(benchmark.splits(domain.name)),
            "source": revision.source,
            "revision": revision.revision,
            "benchmark": benchmark.name,
        }
        for benchmark in benchmarks.all
        for domain in benchmark.domains()
        for revision in [benchmark.revision(domain.name)]
    ]


def of_benchmarks(benchmarks: Benchmarks) -> Rows:
    """List the benchmarks with their domains and main figures."""
    return [
        {
            "benchmark": benchmark.name,
            "about": benchmark.summary,
            "domains": ", ".join(domain.name for domain in benchmark.domains()),
            "headlines": ", ".join(headline.name for headline in benchmark.headlines),
        }
        for benchmark in benchmarks.all
    ]


def of_tasks(
    benchmarks: Benchmarks, domain: str | None, split: str | None, about: str | None
) -> Rows:
    """List the tasks of a domain, or of all, that are about a topic; without one, all of them.

    Raises:
        RequestError: There are none; the message says what there is.
        DataError: There is no such domain or split.
    """
    domains = benchmarks.domains if domain is None else (domain,)
    found = TaskSearch(benchmarks).find_in(domains, about or "", split=split or BASE_SPLIT)
    return [
        {
            **({"domain": task.ref.domain} if domain is None else {}),
            "task": task.ref.id,
            "title": task.title,
            **({"why": task.reason} if about is not None else _shown(task.attributes)),
        }
        for task in found
    ]


def _shown(attributes: Mapping[str, str]) -> dict[str, str]:
    return {"attributes": ", ".join(f"{name} {value}" for name, value in attributes.items())}


def of_teams() -> Rows:
    """List the bundled teams."""
    return [
        {
            "team": f"team:{team.name}",
            "members": f"{len(team.members)} members",
            "labels": f"[{', '.join(team.labels)}]",
            "about": team.description,
        }
        for team in teams().values()
    ]


def of_evaluators(registry: EvaluatorRegistry) -> Rows:
    """List the evaluators with the first paragraph of their documentation."""
    return [
        {
            "evaluator": evaluator.name,
            "tier": f"tier {int(evaluator.tier)}",
            "version": evaluator.version,
            "about": " ".join((inspect.getdoc(type(evaluator)) or "").split("\n\n")[0].split()),
        }
        for evaluator in registry.all
    ]


def of_metrics() -> Rows:
    """List the metrics of teams."""
    metrics: list[Metric | AcrossTrials] = [*graph_metrics()[0], *ACROSS_TRIALS]
    return [
        {
            "metric": metric.name,
            "range": metric.range,
            "formula": metric.formula,
            "needs": metric.needs,
            "source": metric.source,
        }
        for metric in metrics
    ]


def of_runs(results_dir: Path, ids: Sequence[str]) -> Rows:
    """List runs with their state."""
    return [_run(results_dir, run_id) for run_id in ids]


def _run(results_dir: Path, run_id: str) -> dict[str, Any]:
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


def of_agents(registry: AgentRegistry) -> Rows:
    """List the bundled agents and the registered ones.

    Raises:
        GreenroomError: The bundled agents cannot be listed.
        StorageError: The registered agents cannot be read.
    """
    registered = [
        {"agent": agent.name, "about": one_line(f"{agent.url}: {agent.card.name}", _REQUEST_WIDTH)}
        for agent in registry.agents()
    ]
    return [*_bundled(), *registered]


def _bundled() -> Rows:
    # In a process of its own, because the assessor imports no agent.
    done = subprocess.run(
        [sys.executable, "-P", "-m", "purple_agent", "--list"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise GreenroomError(f"cannot list the bundled agents: {done.stderr.strip()[-300:]}")
    rows = []
    for line in done.stdout.splitlines():
        name, about = line.strip().split(maxsplit=1)
        rows.append({"agent": f"builtin:{name}", "about": about})
    return rows
