from datetime import UTC, datetime

import pytest

from evals.graph.metric import Undefined, check_metric, value_of
from evals.graph.paths import (
    METRICS,
    AveragePathLength,
    Diameter,
    GlobalEfficiency,
    ReachableFraction,
)
from tests.fakes.teams import team_of

T0 = datetime(2026, 1, 1, tzinfo=UTC)


STAR = [("hub", leaf) for leaf in "abcde"]
CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]
RING = [*CHAIN, ("d", "a")]
MESH = [(one, other) for one in "abcd" for other in "abcd" if one != other]


@pytest.mark.parametrize("metric", METRICS)
def test_every_path_metric_can_be_registered(metric):
    assert check_metric(metric()).name == metric.name


@pytest.mark.requirement("graph:paths")
@pytest.mark.parametrize(
    ("calls", "average", "diameter", "reachable", "efficiency"),
    [
        (STAR, 1, 1, 5 / 30, 5 / 30),
        (CHAIN, 10 / 6, 3, 0.5, (3 + 2 / 2 + 1 / 3) / 12),
        (RING, 2, 3, 1, 4 * (1 + 1 / 2 + 1 / 3) / 12),
        (MESH, 1, 1, 1, 1),
        ([("a", "b"), ("c", "d")], 1, 1, 2 / 12, 2 / 12),
        ([("a", "b")], 1, 1, 0.5, 0.5),
    ],
)
def test_paths_of_small_graphs(calls, average, diameter, reachable, efficiency):
    assert value_of(AveragePathLength().compute(team_of(*calls))).value == pytest.approx(average)
    assert value_of(Diameter().compute(team_of(*calls))).value == diameter
    assert ReachableFraction().compute(team_of(*calls)) == pytest.approx(reachable)
    assert GlobalEfficiency().compute(team_of(*calls)) == pytest.approx(efficiency)


@pytest.mark.requirement("graph:paths")
def test_the_share_of_reachable_pairs_stands_beside_an_average_over_them():
    for metric in (AveragePathLength, Diameter):
        found = metric().compute(team_of(*CHAIN, roster=["idle"]))
        assert found.details == {"reachable_fraction": 6 / 20}


@pytest.mark.parametrize("metric", METRICS)
def test_paths_without_calls_are_undefined(metric):
    found = metric().compute(team_of(("a", "a"), roster=["a", "b", "c"]))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("empty")


@pytest.mark.parametrize("metric", METRICS)
def test_paths_of_a_graph_that_is_too_large_are_undefined(metric):
    found = metric().compute(team_of(*((f"a{n}", f"a{n + 1}") for n in range(2300))))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("too large")
