"""Measured: the results of Tier 1, as the judges read them, without any text of the transcript.

Names of labels, metrics and findings are ours or a plugin author's, in snake_case. Whatever else
stands there, sentences and names of agents above all, is not taken over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from evals.base import EvaluationContext
from evals.outcome import Unscored

GRAPH = "graph"
"""The evaluator whose result is read."""
DYAD = "dyad"
EMPTY = "empty"
MAX_METRICS_BYTES = 3_000
MAX_FINDINGS = 30

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Metric(_Read):
    value: float | None = None


class MeasuredFinding(_Read):
    """One finding: figures, and the steps that show it."""

    name: str
    value: float | None = None
    threshold: float | None = None
    agents: tuple[str, ...] = ()
    step_ids: tuple[str, ...] = ()
    steps_in_all: int = 0


class _Details(_Read):
    metrics: Mapping[str, _Metric] = {}
    labels: tuple[str, ...] = ()
    findings: tuple[MeasuredFinding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Labels, metrics with a value, and findings of Tier 1; sorted."""

    labels: tuple[str, ...]
    metrics: Mapping[str, float]
    findings: tuple[MeasuredFinding, ...]

    @property
    def not_applicable(self) -> str | None:
        """Return why coordination cannot be judged here; None where it can."""
        if EMPTY in self.labels:
            return "no call between two agents was visible, so there is nothing to judge"
        if DYAD in self.labels:
            return "fewer than three agents were visible, so there is no coordination to judge"
        return None

    def evidence(self) -> dict[str, tuple[str, ...]]:
        """Return the findings that name each step, by step id."""
        found: dict[str, list[str]] = {}
        for finding in self.findings:
            for step_id in finding.step_ids:
                names = found.setdefault(step_id, [])
                if finding.name not in names:
                    names.append(finding.name)
        return {step_id: tuple(names) for step_id, names in found.items()}

    def as_json(self) -> str:
        """Return everything but the step ids, in JSON lines; bounded, and what was cut is said."""
        lines = [json.dumps({"labels": list(self.labels)})]
        lines += [
            json.dumps(
                {
                    "finding": finding.name,
                    "value": _rounded(finding.value),
                    "threshold": _rounded(finding.threshold),
                    "agents": len(finding.agents),
                    "steps": max(finding.steps_in_all, len(finding.step_ids)),
                }
            )
            for finding in self.findings
        ]
        return "\n".join([*lines, *self._metric_lines()])

    def _metric_lines(self) -> list[str]:
        lines: list[str] = []
        room = MAX_METRICS_BYTES
        for name, value in self.metrics.items():
            line = json.dumps({"metric": name, "value": _rounded(value)})
            room -= len(line) + 1
            if room < 0:
                lines.append(json.dumps({"metrics_left_out": len(self.metrics) - len(lines)}))
                break
            lines.append(line)
        return lines


def measured_in(context: EvaluationContext) -> Measured | Unscored:
    """Return what Tier 1 found in the same trace, or why it is not known."""
    graph = next((found for found in context.earlier if found.evaluator == GRAPH), None)
    if graph is None:
        return Unscored(reason=f"needs the evaluator {GRAPH!r}, which did not run: enable it")
    if graph.status == "failed":
        return Unscored(reason=f"needs the evaluator {GRAPH!r}, which failed: see its reason")
    if graph.status == "unscored":
        return Measured(labels=(EMPTY,), metrics={}, findings=())
    try:
        details = _Details.model_validate(graph.details)
    except ValidationError as error:
        count = error.error_count()
        return Unscored(reason=f"the details of the evaluator {GRAPH!r} have {count} errors")
    return _measured(details)


def _measured(details: _Details) -> Measured:
    findings = [finding for finding in details.findings if _NAME.fullmatch(finding.name)]
    metrics = {
        name: metric.value
        for name, metric in sorted(details.metrics.items())
        if metric.value is not None and _NAME.fullmatch(name)
    }
    return Measured(
        labels=tuple(sorted({label for label in details.labels if _NAME.fullmatch(label)})),
        metrics=metrics,
        findings=tuple(findings[:MAX_FINDINGS]),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
