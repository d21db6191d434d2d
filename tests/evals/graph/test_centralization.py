from datetime import UTC, datetime

import pytest

from evals.graph import centralization, load
from evals.graph.centralization import (
    BetweennessCentralization,
    DegreeCentralization,
    OutDegreeCentralization,
)
from evals.graph.load import LoadEntropy, LoadGini
from evals.graph.metric import Undefined, check_metric
from tests.fakes.teams import team_of

T0 = datetime(2026, 1, 1, tzinfo=UTC)


STAR = [("hub", leaf) for leaf in "abcd"]
INWARD = [(leaf, "hub") for leaf in "abcd"]
RING = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
MESH = [(one, other) for one in "abcd" for other in "abcd" if one != other]
PATH = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")]


@pytest.mark.parametrize("metric", [*centralization.METRICS, *load.METRICS])
def test_every_metric_can_be_registered(metric):
    assert check_metric(metric()).name == metric.name


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize(
    ("metric", "calls", "expected"),
    [
        (DegreeCentralization, STAR, 1),
        (DegreeCentralization, INWARD, 1),
        (DegreeCentralization, RING, 0),
        (DegreeCentralization, MESH, 0),
        (DegreeCentralization, PATH, 2 / 20),
        (OutDegreeCentralization, STAR, 1),
        (OutDegreeCentralization, INWARD, 1 / 16),
        (OutDegreeCentralization, RING, 0),
        (BetweennessCentralization, STAR, 1),
        (BetweennessCentralization, RING, 0),
        (BetweennessCentralization, MESH, 0),
        # b of the path: 0, .4, .6, .6, .4, 0
        (BetweennessCentralization, PATH, 1.6 / 5),
    ],
)
def test_centralization_of_small_graphs(metric, calls, expected):
    assert metric().compute(team_of(*calls)) == pytest.approx(expected, abs=1e-12)


def test_an_idle_member_lowers_centralization():
    assert DegreeCentralization().compute(team_of(*STAR, roster=["idle"])) == (3 * 4 - 0 + 4) / 20


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize(
    ("calls", "gini", "entropy"),
    [
        (RING, 0, 1),
        ([("a", "b"), ("c", "b"), ("a", "b")], 1, 0),
        # Loads 0, 1, 3: G = (-2*0 + 0*1 + 2*3) / (3*4), times 3/2; entropy of 1/4 and 3/4.
        ([("a", "b"), ("a", "c"), ("a", "c"), ("a", "c")], 0.75, 0.5118587),
        ([("a", "b"), ("b", "a")], 0, 1),
        ([("a", "b")], 1, 0),
    ],
)
def test_load_is_the_calls_received_by_every_member(calls, gini, entropy):
    assert LoadGini().compute(team_of(*calls)) == pytest.approx(gini, abs=1e-12)
    assert LoadEntropy().compute(team_of(*calls)) == pytest.approx(entropy, abs=1e-6)


def test_idle_members_make_load_less_even():
    assert LoadGini().compute(team_of(*RING, roster=["idle"])) == pytest.approx(0.25)
    assert LoadEntropy().compute(team_of(*RING, roster=["idle"])) < 1


@pytest.mark.parametrize("metric", centralization.METRICS)
def test_centralization_of_a_dyad_is_undefined(metric):
    found = metric().compute(team_of(("a", "b"), ("b", "a")))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("dyad")


@pytest.mark.parametrize("metric", [*centralization.METRICS, *load.METRICS])
@pytest.mark.parametrize("roster", [None, ["a"], ["a", "b", "c"]])
def test_nothing_is_centralized_without_calls(metric, roster):
    found = metric().compute(team_of(roster=roster))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("empty")
