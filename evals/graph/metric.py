"""Metric: one number about a team's interactions, as a plugin; its results and the registry.

    class CallsPerMember(Metric):
        name = "calls_per_member"
        formula = "calls / members"
        source = "this project"
        range = "0 and more"
        needs = "at least one call"

        def compute(self, team: Interactions) -> Computed:
            if not team.calls:
                return Undefined("empty: no call between two agents")
            return len(team.calls) / len(team.members)

`MetricRegistry` checks a metric when it is registered.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue

from evals.graph.interactions import Interactions


@dataclass(frozen=True)
class Undefined:
    """The reason why a metric has no value. It begins with a word such as `dyad`."""

    reason: str


@dataclass(frozen=True, kw_only=True)
class PerAgent:
    """A value for each member, and the one number that stands for all (the highest, say)."""

    values: Mapping[str, float]
    value: float
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Members without a value, with the reason."""


@dataclass(frozen=True, kw_only=True)
class Detailed:
    """A number with what explains it, for example how much of the graph it is about."""

    value: float
    details: Mapping[str, JsonValue]


Computed = float | PerAgent | Detailed | Undefined


class Metric(ABC):
    """One metric. Subclasses set the class variables; the reference in the docs is made of them."""

    name: ClassVar[str]
    """In snake_case, unique."""
    formula: ClassVar[str]
    source: ClassVar[str]
    """The paper or text that defines it."""
    range: ClassVar[str]
    """The values it can take, and what the ends mean."""
    needs: ClassVar[str]
    """The needs of a trace for the metric to be defined; otherwise it is undefined with a reason."""
    version: ClassVar[str] = "1"

    @abstractmethod
    def compute(self, team: Interactions) -> Computed:
        """Return the value, or why there is none. Pure: the same input gives the same value."""


class MetricValue(BaseModel):
    """The result of a metric: a value, or a reason why there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None
    reason: str | None = None
    status: str = "scored"
    """`scored`, `unscored` (undefined here) or `failed` (the plugin broke)."""
    agents: dict[str, float] | None = None
    """Values by member, where the metric has them; `value` is then the highest or as documented.
    """
    details: dict[str, JsonValue] = {}


class MetricError(ValueError):
    """A metric cannot be registered, or a name is not known. The message names it."""


_NAME = re.compile(r"[a-z][a-z0-9_]*")


def check_metric(metric: object) -> Metric:
    """Return `metric`, if it is a usable one.

    Raises:
        MetricError: it lacks something; the message names the metric and what.
    """
    label = f"metric {getattr(metric, 'name', None) or type(metric).__name__!r}"
    if not isinstance(metric, Metric):
        raise MetricError(
            f"{label} is a {type(metric).__name__}, not a Metric (an instance of one)"
        )
    for attribute in ("name", "formula", "source", "range", "needs", "version"):
        value = getattr(metric, attribute, None)
        if not isinstance(value, str) or not value:
            raise MetricError(f"{label} needs a class variable {attribute!r}: a non-empty string")
    if not _NAME.fullmatch(metric.name):
        raise MetricError(f"{label}: a name is in snake_case, such as 'calls_per_member'")
    if inspect.iscoroutinefunction(metric.compute):
        raise MetricError(f"{label}: compute must be a plain function, not async")
    if len(inspect.signature(metric.compute).parameters) != 1:
        raise MetricError(f"{label}: compute must take exactly one argument, the interactions")
    return metric


class MetricRegistry:
    """Metrics by unique name, enabled and disabled by name."""

    def __init__(self, metrics: Iterable[object] = ()) -> None:
        self._metrics: dict[str, Metric] = {}
        self._disabled: set[str] = set()
        for metric in metrics:
            self.register(metric)

    def register(self, metric: object) -> None:
        """Add a metric.

        Raises:
            MetricError: its name is taken, or it lacks what a metric needs.
        """
        checked = check_metric(metric)
        if checked.name in self._metrics:
            raise MetricError(f"a metric named {checked.name!r} is registered already")
        self._metrics[checked.name] = checked

    @property
    def all(self) -> tuple[Metric, ...]:
        """Return every metric, in the order of registration."""
        return tuple(self._metrics.values())

    @property
    def enabled(self) -> tuple[Metric, ...]:
        """Return the metrics that are switched on, in the order of registration."""
        return tuple(m for name, m in self._metrics.items() if name not in self._disabled)

    def enable(self, name: str, *, enabled: bool = True) -> None:
        """Switch one metric on or off.

        Raises:
            MetricError: no metric has that name.
        """
        if name not in self._metrics:
            raise MetricError(
                f"no metric named {name!r}; there are: {', '.join(self._metrics) or 'none'}"
            )
        (self._disabled.discard if enabled else self._disabled.add)(name)


def value_of(computed: object) -> MetricValue:
    """Check the return value of a metric. Nonsense becomes a failed value that says so."""
    if isinstance(computed, Undefined):
        return MetricValue(value=None, reason=computed.reason, status="unscored")
    value: object = computed
    agents: dict[str, float] | None = None
    details: dict[str, JsonValue] = {}
    if isinstance(computed, PerAgent):
        value, agents = computed.value, dict(sorted(computed.values.items()))
        if computed.skipped:
            details = {"skipped": dict(sorted(computed.skipped.items()))}
    elif isinstance(computed, Detailed):
        value, details = computed.value, dict(computed.details)
    for number in (value, *(agents or {}).values()):
        problem = _no_number(number)
        if problem is not None:
            return MetricValue(value=None, reason=problem, status="failed")
    return MetricValue(value=value, agents=agents, details=details)


def _no_number(value: object) -> str | None:
    """Return why a value is no finite number; None if it is one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"returned a {type(value).__name__}, not a number"
    return None if math.isfinite(value) else f"returned {value}, which is no finite number"
