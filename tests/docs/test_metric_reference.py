"""docs/metrics.md is partly made from the metrics, by scripts/metric_reference.py."""

from pathlib import Path

import metric_reference
import pytest
from generated_part import PageError
from metric_reference import PART

from evals.graph.catalogue import builtin_metrics
from evals.graph.consistency import ACROSS_TRIALS

ROOT = Path(__file__).parents[2]


@pytest.mark.requirement("ext:docs")
def test_the_page_has_the_metrics_as_they_are():
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert PART.within(page) == page, "run scripts/metric_reference.py"


def test_every_metric_stands_with_formula_range_needs_and_source():
    reference = metric_reference.reference()
    for metric in (*builtin_metrics(), *ACROSS_TRIALS):
        entry = reference.partition(f"### {metric.name}\n")[2].partition("###")[0]
        for part in (metric.formula, metric.range, metric.needs, metric.source):
            assert part in entry, metric.name


def test_what_stood_between_the_marks_is_replaced_and_all_else_stays():
    page = f"before\n{PART.begin}\nold\n{PART.end}\nafter\n"
    made = PART.within(page)
    assert made.startswith(f"before\n{PART.begin}\n")
    assert made.endswith(f"{PART.end}\nafter\n")
    assert "old" not in made
    assert PART.within(made) == made


@pytest.mark.parametrize("marks", ["", "END BEGIN", "BEGIN BEGIN END", "BEGIN END END"])
def test_a_page_without_its_two_marks_in_order_is_refused(marks):
    page = marks.replace("BEGIN", PART.begin).replace("END", PART.end)
    with pytest.raises(PageError, match="once each and in this order"):
        PART.within(page)
