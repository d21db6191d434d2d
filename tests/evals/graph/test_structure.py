from datetime import UTC, datetime

import pytest

from evals.graph.metric import Undefined, check_metric, value_of
from evals.graph.structure import (
    METRICS,
    ArticulationAgents,
    ClusteringCoefficient,
    ConnectedComponents,
    Density,
    Dominators,
    Hierarchy,
    Modularity,
    WeightedReciprocity,
)
from tests.fakes.teams import team_of

T0 = datetime(2026, 1, 1, tzinfo=UTC)


STAR = [("hub", leaf) for leaf in "abcd"]
CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]
RING = [*CHAIN, ("d", "a")]
MESH = [(one, other) for one in "abcd" for other in "abcd" if one != other]
TREE = [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "e"), ("b", "f")]
BRIDGED = [("l1", "l2"), ("l1", "l3"), ("l1", "r1"), ("r1", "r2"), ("r1", "r3")]
DYAD = [("a", "b"), ("b", "a")]


def value(metric, *calls, roster=None):
    return value_of(metric().compute(team_of(*calls, roster=roster))).value


@pytest.mark.parametrize("metric", METRICS)
def test_every_structural_metric_can_be_registered(metric):
    assert check_metric(metric()).name == metric.name


@pytest.mark.requirement("graph:structure")
@pytest.mark.requirement("graph:build")
@pytest.mark.parametrize(
    ("calls", "roster", "expected"),
    [
        (STAR, None, 0.2),
        (CHAIN, None, 0.25),
        (MESH, None, 1.0),
        (TREE, None, 1 / 7),
        (DYAD * 4, None, 1.0),
        ([("lead", "a"), ("lead", "b")], ["idle"], 1 / 6),
        (BRIDGED, None, 1 / 6),
    ],
)
def test_density_of_the_reference_teams(calls, roster, expected):
    assert value(Density, *calls, roster=roster) == pytest.approx(expected, abs=1e-12)


def test_density_comes_with_size_and_connections_and_ignores_repeats():
    found = Density().compute(team_of(*STAR, *STAR))
    assert found.value == 0.2
    assert found.details == {"agents": 5, "connections": 4}


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (STAR, 0),
        (RING, 0),
        (MESH, 1),
        # A triangle with a tail: 1, 1, 1/3 and 0.
        ([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")], (1 + 1 + 1 / 3) / 4),
    ],
)
def test_clustering_is_the_mean_over_all_members(calls, expected):
    assert value(ClusteringCoefficient, *calls) == pytest.approx(expected)


@pytest.mark.requirement("graph:structure")
def test_a_member_without_calls_is_a_component_of_its_own():
    found = ConnectedComponents().compute(team_of(*STAR, ("x", "y"), roster=["idle", "hub"]))
    assert found.value == 3
    assert found.details == {"sizes_above_1": [5, 2], "alone": 1}


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize(
    ("calls", "expected"),
    [(STAR, 0), (MESH, 1), (DYAD, 1), ([("a", "b"), ("a", "b"), ("b", "a"), ("b", "c")], 0.5)],
)
def test_reciprocity_matches_calls_with_those_the_other_way(calls, expected):
    assert value(WeightedReciprocity, *calls) == expected


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        (STAR, 1),
        (CHAIN, 1),
        (RING, 0),
        (DYAD, 0),
        # a and b reach each other and both reach c: 1 of 3 pairs is mutual.
        ([*DYAD, ("b", "c")], 2 / 3),
    ],
)
def test_hierarchy_counts_pairs_with_a_way_back(calls, expected):
    assert value(Hierarchy, *calls) == pytest.approx(expected)


@pytest.mark.requirement("graph:structure")
def test_modularity_finds_planted_groups():
    groups = [
        (f"{group}{one}", f"{group}{other}")
        for group in "xyz"
        for one in range(4)
        for other in range(4)
        if one != other
    ]
    found = Modularity().compute(team_of(*groups, roster=["idle"]))
    assert found.value == pytest.approx(2 / 3)
    assert found.details == {"groups": 3}


def test_modularity_of_two_bridged_teams_by_hand():
    # Halves at the bridge: 4 of 5 calls inside; left makes 3 and receives 2, right 2 and 3.
    assert value(Modularity, *BRIDGED) == pytest.approx(4 / 5 - (3 * 2 + 2 * 3) / 25)


def test_modularity_needs_six_members():
    assert Modularity().compute(team_of(*STAR)).reason == "needs at least 6 agents, there are 5"


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize(
    ("calls", "agents"),
    [
        (STAR, ["hub"]),
        (CHAIN, ["b", "c"]),
        (RING, []),
        (TREE, ["r", "a", "b"]),
        (BRIDGED, ["l1", "r1"]),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e"), ("e", "c")], ["c"]),
    ],
)
def test_articulation_agents_hold_the_team_together(calls, agents):
    found = ArticulationAgents().compute(team_of(*calls))
    assert found.details == {"agents": agents}
    assert found.value == len(agents)


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize(
    ("calls", "root", "dominated"),
    [
        (STAR, "hub", {}),
        (CHAIN, "a", {"b": 2, "c": 1}),
        (RING, "a", {"b": 2, "c": 1}),
        (TREE, "r", {"a": 2, "b": 2}),
        ([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")], "a", {"d": 1}),
    ],
)
def test_dominators_lie_on_every_way_from_the_root(calls, root, dominated):
    found = Dominators().compute(team_of(*calls))
    assert found.details == {"root": root, "dominated": dominated}
    assert found.value == len(dominated)


def test_dominators_of_a_team_with_two_roots_are_undefined():
    found = Dominators().compute(team_of(("a", "c"), ("b", "c")))
    assert found == Undefined("no root: 2 agents call and are called by nobody")


def test_a_chain_of_a_thousand_agents_needs_no_recursion():
    chain = [(f"a{n}", f"a{n + 1}") for n in range(1100)]
    assert value(ArticulationAgents, *chain) == 1099
    assert value(Dominators, *chain) == 1099


@pytest.mark.parametrize(
    "metric", [ClusteringCoefficient, Modularity, ArticulationAgents, Dominators]
)
def test_what_needs_more_than_two_agents_is_undefined_for_a_dyad(metric):
    found = metric().compute(team_of(*DYAD))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("dyad")


@pytest.mark.requirement("graph:structure")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("roster", [None, ["a"], ["a", "b", "c", "d", "e", "f"]])
def test_structure_without_calls_is_undefined_and_not_0(metric, roster):
    found = metric().compute(team_of(roster=roster))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("empty")
