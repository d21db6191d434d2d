from dataclasses import dataclass

import pytest

from evals.graph.catalogue import builtin_metrics, metrics_with_plugins
from evals.graph.consistency import ACROSS_TRIALS
from evals.graph.labels import NEEDED
from evals.graph.metric import Metric, MetricRegistry


class CallsPerMember(Metric):
    name = "calls_per_member"
    formula = "calls / members"
    source = "this test"
    range = "0 and more"
    needs = "a member"

    def compute(self, team):
        return len(team.calls) / len(team.members)


class Density2(CallsPerMember):
    name = "density"


class Nameless(CallsPerMember):
    name = ""


@dataclass
class Point:
    name: str
    found: object

    def load(self):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


def test_there_are_at_least_28_metrics_each_with_a_name_of_its_own():
    metrics = MetricRegistry(builtin_metrics()).all
    assert len(metrics) + len(ACROSS_TRIALS) >= 28
    assert len({metric.name for metric in metrics}) == len(metrics)


def test_the_product_has_the_metrics_that_labels_and_findings_need():
    assert set(NEEDED) <= {metric.name for metric in builtin_metrics()}


def test_the_order_of_the_metrics_is_fixed():
    assert [m.name for m in builtin_metrics()] == [m.name for m in builtin_metrics()]


@pytest.mark.requirement("graph:plugins")
def test_metrics_from_entry_points_follow_the_products_own():
    class Another(CallsPerMember):
        name = "another"

    points = [Point("b", CallsPerMember), Point("a", Another())]
    metrics, warnings = metrics_with_plugins(points)
    assert [metric.name for metric in metrics[-2:]] == ["another", "calls_per_member"]
    assert len(metrics) == len(builtin_metrics()) + 2
    assert warnings == ()


@pytest.mark.requirement("graph:plugins")
@pytest.mark.parametrize(
    ("found", "why"),
    [
        (ImportError("no module named 'gone'"), "ImportError: no module named 'gone'"),
        (RuntimeError("broken"), "RuntimeError: broken"),
        (42, "is a int, not a Metric"),
        (Nameless, "needs a class variable 'name'"),
        (Density2, "the name 'density' is taken"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named_in_a_warning(found, why):
    metrics, warnings = metrics_with_plugins([Point("odd", found), Point("ok", CallsPerMember)])
    assert metrics[-1].name == "calls_per_member"
    assert len(metrics) == len(builtin_metrics()) + 1
    assert len(warnings) == 1
    assert warnings[0].startswith("metric plugin 'odd' is left out: ")
    assert why in warnings[0]


def test_of_two_plugins_with_one_name_the_first_by_entry_point_stays():
    points = [Point("z", CallsPerMember()), Point("a", CallsPerMember())]
    metrics, warnings = metrics_with_plugins(points)
    assert metrics[-1] is points[1].found
    assert "'z'" in warnings[0]
