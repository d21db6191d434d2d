"""Reproduce: what a run was made with, and the command that plays it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from adk_agent.core.plan import EvaluationPlan
from adk_agent.requests.description import equivalent_command
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.store import RunManifest
from evals.base import Evaluation
from tau_bridge.a2a.in_process import PYTHON_PREFIX

MOST_TASKS_IN_COMMAND = 2_000


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """All that the figures depend on."""

    request: str
    command: str
    versions: tuple[tuple[str, str], ...]
    data: tuple[tuple[str, str, str], ...]
    """Domain, source and revision."""
    seeds: tuple[int, ...]
    facts: tuple[tuple[str, str], ...]
    """Name and value: models, limits and the like."""


def recipe(report: EvaluationReport, manifest: RunManifest | None) -> Recipe:
    """Return the recipe of a run."""
    plan = report.plan
    origins = {row.domain: row.data for row in report.summary}
    seeds = manifest.seeds if manifest is not None else sorted({row.seed for row in report.trials})
    tasks = sum(len(planned.task_ids) for planned in plan.tasks)
    return Recipe(
        request=report.request,
        command=_command(plan, tasks, manifest),
        versions=tuple(sorted(report.versions.items())),
        data=tuple((name, each.source, each.revision) for name, each in sorted(origins.items())),
        seeds=tuple(seeds),
        facts=tuple(_facts(report)),
    )


def _command(plan: EvaluationPlan, tasks: int, manifest: RunManifest | None) -> str:
    """Return the command that plays a plan again, or why there is none."""
    code = [each.address for each in plan.participants if each.address.startswith(PYTHON_PREFIX)]
    if code:
        return f"({', '.join(code)}: code of a Python program; greenroom.evaluate plays it again)"
    if tasks > MOST_TASKS_IN_COMMAND:
        return f"(too long for this page: {tasks:,} tasks; the plan stands in manifest.json)"
    if manifest is None:
        return equivalent_command(plan)
    flags = list(manifest.flags)
    if "--offline" not in flags:  # models that the environment names are not called then
        for name, model in manifest.model_names.items():
            flags += [f"--{name.replace('_', '-')}", model]
    return f"{equivalent_command(plan)} {shlex.join(flags)}".rstrip()


def _facts(report: EvaluationReport) -> list[tuple[str, str]]:
    plan = report.plan
    judged = [result for each in report.evaluations for result in each.results]
    facts = [
        ("user", ", ".join(sorted({row.user for row in report.trials})) or "none"),
        (
            "scored by",
            ", ".join(sorted({row.produced_by for row in report.trials if row.produced_by})),
        ),
        ("evaluated by", ", ".join(_authors(judged))),
        ("reward", "official" if plan.evaluation_type == "all" else "actions alone (legacy)"),
        ("trials of each task", str(plan.num_trials)),
        ("first seed", str(plan.seed)),
        ("steps of a conversation", f"at most {plan.max_steps}"),
        ("conversations at once", f"at most {plan.max_concurrency}"),
        ("begun", report.created_at.isoformat(timespec="seconds")),
    ]
    methods = {row.interval_method for row in report.summary if row.intervals}
    facts += [("intervals", method) for method in sorted(methods)]
    if plan.solo:
        facts.append(("solo", "there was no user"))
    return [(name, value) for name, value in facts if value]


def _authors(results: Sequence[Evaluation]) -> list[str]:
    found: dict[str, set[str]] = {}
    for each in results:
        if each.status == "scored":
            found.setdefault(each.evaluator, set()).add(each.produced_by)
    return [f"{name} {'/'.join(sorted(authors))}" for name, authors in sorted(found.items())]
