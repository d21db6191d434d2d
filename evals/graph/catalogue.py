"""The metrics that come with the product, and those that plugins bring."""

from __future__ import annotations

from collections.abc import Iterable

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
from evals.graph.metric import Metric, check_metric
from evals.plugins import EntryPoint, load_plugins

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
    own = builtin_metrics()
    taken = {metric.name for metric in own}
    plugins, warnings = load_plugins("metric plugin", entry_points, _load, taken=taken)
    return (*own, *plugins), warnings


def _load(entry_point: EntryPoint) -> Metric:
    found = entry_point.load()
    return check_metric(found() if isinstance(found, type) else found)
