"""Conditions: what all trials of a run have in common, so that their results compare."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adk_agent.core.errors import RequestError
from adk_agent.core.model_choice import ModelChoice
from adk_agent.core.plan import EvaluationPlan, PlannedTasks
from adk_agent.results.headlines import DomainHeadlines, HeadlineSpec
from adk_agent.results.summary import DataOrigin
from adk_agent.runs.store import WITHOUT_MODELS, RunManifest
from tau_bridge.benchmark import PASS_HAT_K, Benchmark
from tau_bridge.benchmarks import Benchmarks

NO_MODELS = (
    "the run was begun by a version that did not note its language models: whether the trials that "
    "were added later had the same ones is not known"
)
"""The warning where a run without such a note goes on."""
_MODEL = "model of the "


def data_origins(plan: EvaluationPlan, benchmarks: Benchmarks) -> dict[str, DataOrigin]:
    """Where the data of each domain of a plan come from."""
    opened = benchmarks.with_options(plan.options_of)
    origins = {}
    for domain in plan.domains:
        benchmark = opened.of(domain)
        found = benchmark.revision(domain)
        origins[domain] = DataOrigin(
            source=found.source,
            revision=found.revision,
            benchmark=benchmark.name,
            simulates_user="user" in opened.domain(domain).needs,
        )
    return origins


def headlines_of(plan: EvaluationPlan, benchmarks: Benchmarks) -> dict[str, DomainHeadlines]:
    """The headlines of each domain of a plan, other than pass^k, with what chooses their tasks.

    A run keeps them, so that they can be told later, without the benchmark.
    """
    opened = benchmarks.with_options(plan.options_of)
    found = {}
    for planned in plan.tasks:
        benchmark = opened.of(planned.domain)
        others = [each for each in benchmark.headlines if each != PASS_HAT_K]
        if others:
            asked = {name for each in others for name in each.cases}
            found[planned.domain] = DomainHeadlines(
                headlines=tuple(
                    HeadlineSpec(
                        name=each.name,
                        component=each.component,
                        cases=dict(each.cases),
                        higher_is_better=each.higher_is_better,
                        passed_only=each.passed_only,
                    )
                    for each in others
                ),
                attributes=_attributes(benchmark, planned, asked) if asked else {},
            )
    return found


def _attributes(
    benchmark: Benchmark, planned: PlannedTasks, asked: Collection[str]
) -> dict[str, dict[str, str]]:
    """Those attributes of the planned tasks that are asked for."""
    infos = {task_id: benchmark.task(planned.domain, task_id) for task_id in planned.task_ids}
    return {
        task_id: {name: value for name, value in info.attributes.items() if name in asked}
        for task_id, info in infos.items()
    }


def refuse_a_mixture(
    manifest: RunManifest,
    versions: Mapping[str, str],
    benchmarks: Benchmarks,
    models: ModelChoice,
) -> None:
    """Make sure that trials which are played now compare with those that a run has already.

    Raises:
        RequestError: Versions, data or language models are not those of the run; says which.
    """
    plan = manifest.plan
    needs = benchmarks.needs(plan.domains)
    then = named_conditions(manifest.versions, _revisions(manifest.data), manifest.models)
    now = named_conditions(
        versions,
        _revisions(data_origins(plan, benchmarks)),
        models.labels(plan, needs) if manifest.models else {},
    )
    differing = differences(then, now, when=("then", "now"))
    if differing:
        only_models = all(name.startswith(_MODEL) for name in differing)
        began_offline = only_models and manifest.models == WITHOUT_MODELS
        way_out = "Go on with --offline, as it began" if began_offline else "Start a new run"
        raise RequestError(
            f"run {manifest.run_id} cannot go on here, for its trials would not compare: "
            f"{'; '.join(differing)}. {way_out}"
        )


def named_conditions(
    versions: Mapping[str, str],
    data: Mapping[str, object],
    models: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """Versions, origins of data by domain, and models by part, each by what it is called."""
    return {
        **{f"version of {name}": version for name, version in versions.items()},
        **{f"data of {name}": origin for name, origin in data.items()},
        **{f"{_MODEL}{part}": label for part, label in (models or {}).items()},
    }


def differences(
    one: Mapping[str, object], other: Mapping[str, object], *, when: tuple[str, str]
) -> list[str]:
    """What two sets of conditions do not share, in words; `when` names the two."""
    return [
        f"{name}: {one.get(name)} {when[0]}, {other.get(name)} {when[1]}"
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]


def _revisions(origins: Mapping[str, DataOrigin]) -> dict[str, str]:
    return {domain: f"{origin.source} {origin.revision}" for domain, origin in origins.items()}
