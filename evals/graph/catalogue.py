"""The metrics that come with the product, and those that plugins bring."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from evals.graph import (
    centrality,
    centralization,
    failures,
    handoffs,
    load,
    paths,
    schedule,
    structure,
)
from evals.graph.metric import Metric, MetricError, check_metric

ENTRY_POINT_GROUP = "greenroom.metrics"
"""The group of entry points under which a distribution offers metrics: a class or an object."""

_MODULES = (
    centrality,
    structure,
    paths,
    centralization,
    load,
    schedule,
    handoffs,
    failures,
)


class EntryPoint(Protocol):
    """The used part of an `importlib.metadata.EntryPoint`."""

    @property
    def name(self) -> str:
        """Return the name that its distribution gave it."""

    def load(self) -> object:
        """Return the metric, or its class."""


def builtin_metrics() -> tuple[Metric, ...]:
    """Return the product's own metrics, in the order of the reference."""
    return tuple(kind() for module in _MODULES for kind in module.METRICS)


def metrics_with_plugins(
    entry_points: Iterable[EntryPoint],
) -> tuple[tuple[Metric, ...], tuple[str, ...]]:
    """Return the product's metrics and those of plugins, and a warning for each plugin left out.

    Plugins come in the order of their entry points' names. One that cannot be loaded, is no usable
    metric, or has the name of another is left out.
    """
    metrics = list(builtin_metrics())
    taken = {metric.name for metric in metrics}
    warnings = []
    for entry_point in sorted(entry_points, key=lambda point: point.name):
        try:
            metric = _loaded(entry_point, taken)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything while it is loaded
            warnings.append(
                f"metric plugin {entry_point.name!r} is left out: {type(error).__name__}: {error}"
            )
            continue
        taken.add(metric.name)
        metrics.append(metric)
    return tuple(metrics), tuple(warnings)


def _loaded(entry_point: EntryPoint, taken: set[str]) -> Metric:
    found = entry_point.load()
    metric = check_metric(found() if isinstance(found, type) else found)
    if metric.name in taken:
        raise MetricError(f"a metric named {metric.name!r} is there already")
    return metric
