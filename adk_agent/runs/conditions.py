"""Conditions: what all trials of a run have in common, so that their results compare."""

from __future__ import annotations

from collections.abc import Mapping

from adk_agent.core.errors import RequestError
from adk_agent.core.models import ModelSpec, default_spec, user_spec
from adk_agent.core.plan import EvaluationPlan
from adk_agent.core.settings import Settings
from adk_agent.results.summary import DataOrigin
from adk_agent.runs.store import RULES, SCRIPTED, WITHOUT_MODELS, RunManifest
from tau_bridge.bundled_domains import BUNDLED_DOMAINS
from tau_bridge.tau2.data import DataSource

NO_MODELS = (
    "the run was begun by a version that did not note its language models: whether the trials that "
    "were added later had the same ones is not known"
)
"""The warning where a run without such a note goes on."""
_MODEL = "model of the "


def data_origins(plan: EvaluationPlan, source: DataSource) -> dict[str, DataOrigin]:
    """Where the data of each domain of a plan comes from."""
    origins = {}
    for domain in (planned.domain for planned in plan.tasks):
        bundled = BUNDLED_DOMAINS.get(domain)
        origins[domain] = (
            DataOrigin(source=source.name, revision=source.revision(domain))
            if bundled is None
            else DataOrigin(source="greenroom", revision=bundled.revision())
        )
    return origins


def model_specs(
    plan: EvaluationPlan, settings: Settings
) -> tuple[ModelSpec | None, ModelSpec | None]:
    """The models that play the user and judge statements; None where rules do, or nobody has to."""
    if not plan.benchmark_tasks:
        return None, None
    user = user_spec(settings, plan.user_llm, plan.user_llm_args)
    return None if plan.solo else user, default_spec(settings) or user


def model_labels(plan: EvaluationPlan, settings: Settings) -> dict[str, str]:
    """Who plays the user, and who judges: a model and its address, without any key, or rules."""
    user, judge = model_specs(plan, settings)
    judge = judge or default_spec(settings)  # which judges how a team works together
    return {
        "user": SCRIPTED if user is None else user.label,
        "judge": RULES if judge is None else judge.label,
    }


def refuse_a_mixture(
    manifest: RunManifest, versions: Mapping[str, str], source: DataSource, settings: Settings
) -> None:
    """Make sure that trials which are played now compare with those that a run has already.

    Raises:
        RequestError: Versions, data or language models are not those of the run; says which.
    """
    then = named_conditions(manifest.versions, manifest.data, manifest.models)
    models = model_labels(manifest.plan, settings) if manifest.models else {}
    now = named_conditions(versions, data_origins(manifest.plan, source), models)
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
