"""Write the part of docs/metrics.md that is made of the metrics themselves.

The metrics carry their own name, formula, source, range and needs; the page has them from there.
Run it after a metric has changed: .venv/bin/python scripts/metric_reference.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from evals.graph.catalogue import builtin_metrics
from evals.graph.consistency import ACROSS_TRIALS, AcrossTrials
from evals.graph.metric import Metric

PAGE = Path(__file__).resolve().parent.parent / "docs" / "metrics.md"
BEGIN = "<!-- made by scripts/metric_reference.py: begin -->"
END = "<!-- made by scripts/metric_reference.py: end -->"


class PageError(Exception):
    """The page has no place for what is made."""


def reference() -> str:
    """The entries of all metrics in markdown, in the order in which they are reported."""
    metrics = builtin_metrics()
    parts = [f"## The {len(metrics)} metrics of a trace", *map(_entry, metrics)]
    parts += [f"## The {len(ACROSS_TRIALS)} metrics across trials", *map(_entry, ACROSS_TRIALS)]
    return "\n\n".join(parts)


def with_reference(page: str) -> str:
    """The page with the entries as they are now.

    Raises:
        PageError: it does not have the two marks, once each and in order.
    """
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end or BEGIN in rest or END in tail:
        msg = f"the page needs the lines {BEGIN!r} and {END!r}, once each and in this order"
        raise PageError(msg)
    return f"{head}{BEGIN}\n\n{reference()}\n\n{END}{tail}"


def _entry(metric: Metric | AcrossTrials) -> str:
    return "\n".join([f"### {metric.name}", "", *_lines(metric)])


def _lines(metric: Metric | AcrossTrials) -> Iterator[str]:
    yield f"- Formula: `{metric.formula}`"
    yield f"- Range: {metric.range}"
    yield f"- Needs: {metric.needs}"
    yield f"- Source: {metric.source}"


def main() -> int:
    """Rewrite the page where it differs."""
    before = PAGE.read_text(encoding="utf-8")
    try:
        after = with_reference(before)
    except PageError as error:
        print(f"{PAGE.name}: {error}", file=sys.stderr)
        return 1
    if after != before:
        PAGE.write_text(after, encoding="utf-8")
    print(f"{PAGE.name}: {'unchanged' if after == before else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
