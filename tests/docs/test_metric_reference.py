"""docs/metrics.md is partly made from the metrics, by scripts/metric_reference.py."""

import importlib.util
from pathlib import Path

import pytest

from evals.graph.catalogue import builtin_metrics
from evals.graph.consistency import ACROSS_TRIALS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    path = ROOT / "scripts" / "metric_reference.py"
    spec = importlib.util.spec_from_file_location("metric_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.requirement("ext:docs")
def test_the_page_has_the_metrics_as_they_are(script):
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert script.with_reference(page) == page, "run scripts/metric_reference.py"


def test_every_metric_stands_with_formula_range_needs_and_source(script):
    reference = script.reference()
    for metric in (*builtin_metrics(), *ACROSS_TRIALS):
        entry = reference.partition(f"### {metric.name}\n")[2].partition("###")[0]
        for part in (metric.formula, metric.range, metric.needs, metric.source):
            assert part in entry, metric.name


def test_what_stood_between_the_marks_is_replaced_and_all_else_stays(script):
    page = f"before\n{script.BEGIN}\nold\n{script.END}\nafter\n"
    made = script.with_reference(page)
    assert made.startswith(f"before\n{script.BEGIN}\n")
    assert made.endswith(f"{script.END}\nafter\n")
    assert "old" not in made
    assert script.with_reference(made) == made


@pytest.mark.parametrize("marks", ["", "END BEGIN", "BEGIN BEGIN END", "BEGIN END END"])
def test_a_page_without_its_two_marks_in_order_is_refused(script, marks):
    page = marks.replace("BEGIN", script.BEGIN).replace("END", script.END)
    with pytest.raises(script.PageError, match="once each and in this order"):
        script.with_reference(page)
