"""Write the part of docs/metrics.md that is made of the metrics themselves.

The metrics carry their own name, formula, source, range and needs; the page has them from there.
Run it after a metric has changed: .venv/bin/python scripts/metric_reference.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from generated_part import GeneratedPart

from evals.graph.catalogue import builtin_metrics
from evals.graph.consistency import ACROSS_TRIALS, AcrossTrials
from evals.graph.metric import Metric


def reference() -> str:
    """Return the entries of all metrics in markdown, in report order."""
    metrics = builtin_metrics()
    parts = [f"## The {len(metrics)} metrics of a trace", *map(_entry, metrics)]
    parts += [f"## The {len(ACROSS_TRIALS)} metrics across trials", *map(_entry, ACROSS_TRIALS)]
    return "\n\n".join(parts)


def _entry(metric: Metric | AcrossTrials) -> str:
    return "\n".join([f"### {metric.name}", "", *_lines(metric)])


def _lines(metric: Metric | AcrossTrials) -> Iterator[str]:
    yield f"- Formula: `{metric.formula}`"
    yield f"- Range: {metric.range}"
    yield f"- Needs: {metric.needs}"
    yield f"- Source: {metric.source}"


PART = GeneratedPart("metrics.md", "metric_reference.py", reference)

if __name__ == "__main__":
    sys.exit(PART.rewrite())
