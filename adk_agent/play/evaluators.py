"""The evaluators of a run: the product's own and those of plugins, less what is switched off.

Apart from `adk_agent.assembly`, so that scoring a trace need not import what plays one.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata

from adk_agent.core.errors import RequestError
from adk_agent.core.models import LiteLlmCompletion, ModelSpec, load_litellm
from adk_agent.play.scoring import RESERVED
from evals.attribution.evaluator import AttributionEvaluator
from evals.base import BaseEvaluator
from evals.driver import DEFAULT_TIMEOUT_S, EvaluatorRegistry, check_evaluator
from evals.graph.catalogue import ENTRY_POINT_GROUP as METRICS_GROUP
from evals.graph.catalogue import metrics_with_plugins
from evals.graph.evaluator import METRIC_TIMEOUT_S, GraphEvaluator
from evals.graph.metric import Metric, MetricRegistry
from evals.judge.evaluator import JudgeEvaluator
from evals.judge.modes import FailureModesEvaluator
from evals.latency import LatencyEvaluator
from evals.plugins import load_plugins
from evals.text import TextSimilarityEvaluator
from tau_bridge.errors import nearest

EVALUATORS_GROUP = "greenroom.evaluators"
"""The group of entry points under which a distribution offers evaluators."""


def trace_evaluators(
    model: ModelSpec | None = None,
    *,
    without: str = "",
    thorough: bool = True,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    metrics_timeout_s: float = METRIC_TIMEOUT_S,
) -> EvaluatorRegistry:
    """Build the registry of all evaluators, those of plugins too.

    Args:
        model: Judges; None: rules do.
        without: The names of evaluators and metrics that are switched off, comma-separated.
        thorough: Whether the model also judges two agents, names failure modes and attributes failures. Not worth its
            price for most trials: they are the conversation of one agent, and there are many.
        timeout_s: The time limit of an evaluator.
        metrics_timeout_s: The time limit of a graph metric.

    Raises:
        RequestError: what is to be switched off does not exist.
    """
    ask = LiteLlmCompletion(model).ask if model is not None else None
    load = load_litellm if model is not None else None
    by = f"llm:{model.name}" if model is not None else "rules"
    metrics, warnings = graph_metrics()
    registry = MetricRegistry(metrics)
    own: tuple[BaseEvaluator, ...] = (
        JudgeEvaluator(ask, produced_by=by, judges_dyads=thorough, load=load),
        FailureModesEvaluator(
            ask if thorough else None, produced_by=by, load=load if thorough else None
        ),
        AttributionEvaluator(
            ask if thorough else None, produced_by=by, load=load if thorough else None
        ),
        LatencyEvaluator(),
        TextSimilarityEvaluator(),
    )
    taken = {GraphEvaluator.name, *RESERVED, *(evaluator.name for evaluator in own)}
    plugins, more_warnings = evaluator_plugins(taken)
    left_out = (*warnings, *more_warnings)
    graph = GraphEvaluator(registry, metric_timeout_s=metrics_timeout_s, warnings=left_out)
    evaluators = EvaluatorRegistry([graph, *own, *plugins], timeout_s=timeout_s, warnings=left_out)
    _switch_off(without, evaluators, registry)
    return evaluators


def trial_evaluators(model: ModelSpec | None = None, *, without: str = "") -> EvaluatorRegistry:
    """Build the registry for most trials; see `thorough` of `trace_evaluators`."""
    return trace_evaluators(model, without=without, thorough=False)


def graph_metrics() -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """Return the graph metrics, those of plugins too, and a warning for each that is left out."""
    return metrics_with_plugins(metadata.entry_points(group=METRICS_GROUP))


def evaluator_plugins(
    taken: Iterable[str],
) -> tuple[tuple[BaseEvaluator, ...], tuple[str, ...]]:
    """Return the evaluators of plugins, and a warning for each that cannot be used.

    Args:
        taken: Names that no plugin can have.
    """
    points = metadata.entry_points(group=EVALUATORS_GROUP)
    return load_plugins("evaluator plugin", points, _load, taken=set(taken))


def _load(point: metadata.EntryPoint) -> BaseEvaluator:
    loaded = point.load()
    return check_evaluator(loaded() if isinstance(loaded, type) else loaded)


def _switch_off(without: str, evaluators: EvaluatorRegistry, metrics: MetricRegistry) -> None:
    known = {metric.name for metric in metrics.all}
    for name in filter(None, map(str.strip, without.split(","))):
        if name in evaluators.names:
            evaluators.enable(name, enabled=False)
        elif name in known:
            metrics.enable(name, enabled=False)
        else:
            raise RequestError(
                f"there is no evaluator or metric {name!r} to switch off: "
                f"{nearest(name, [*evaluators.names, *sorted(known)])}"
            )
