import math
from datetime import UTC, datetime

import pytest

from evals.graph.centrality import (
    METRICS,
    Betweenness,
    Closeness,
    Degree,
    Eigenvector,
    InteractionShare,
    PageRank,
)
from evals.graph.metric import Undefined, check_metric, value_of
from tests.fakes.teams import team_of

T0 = datetime(2026, 1, 1, tzinfo=UTC)


STAR = [("hub", leaf) for leaf in "abcd"]
CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]
MESH = [(one, other) for one in "abcd" for other in "abcd" if one != other]
TREE = [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "e"), ("b", "f")]
TRIANGLES = [(x + one, x + other) for x in "lr" for one, other in ("12", "23", "31")]
BRIDGED = [("l1", "l2"), ("l1", "l3"), ("l1", "r1"), ("r1", "r2"), ("r1", "r3")]


@pytest.mark.parametrize("metric", METRICS)
def test_every_centrality_can_be_registered(metric):
    assert check_metric(metric()).name == metric.name


@pytest.mark.requirement("graph:centrality")
def test_degree_counts_distinct_partners_both_ways():
    degrees = Degree().compute(team_of(*STAR, ("a", "hub"), ("a", "hub")))
    # hub calls 4 and is called by 1, of 2 * 4 possible connections.
    assert degrees.values == {"hub": 0.625, "a": 0.25, "b": 0.125, "c": 0.125, "d": 0.125}
    assert degrees.value == 0.625


def test_an_idle_member_has_degree_0_and_makes_the_team_larger():
    degrees = Degree().compute(team_of(("a", "b"), roster=["idle"]))
    assert degrees.values == {"a": 0.25, "b": 0.25, "idle": 0.0}


@pytest.mark.requirement("graph:centrality")
@pytest.mark.parametrize(
    ("calls", "agent", "expected"),
    [
        (STAR, "hub", 1.0),
        (CHAIN, "b", 2 / 3),
        (MESH, "a", 0.0),
        (TREE, "r", 0.6),
        (TREE, "a", 0.6),
        (BRIDGED, "l1", 0.7),
        ([*CHAIN, ("d", "a")], "a", 1 / 6),
    ],
)
def test_betweenness_of_small_graphs_without_direction(calls, agent, expected):
    assert Betweenness().compute(team_of(*calls)).values[agent] == pytest.approx(
        expected, abs=1e-12
    )


def test_betweenness_of_a_degraded_team_counts_its_idle_member():
    found = Betweenness().compute(team_of(("lead", "a"), ("lead", "b"), roster=["idle"]))
    assert found.value == pytest.approx(1 / 3, abs=1e-12)


@pytest.mark.requirement("graph:centrality")
def test_closeness_looks_at_who_reaches_an_agent():
    found = Closeness().compute(team_of(*CHAIN))
    # d is reached by 3 agents over 1 + 2 + 3 calls: 3/6 * 3/3; b by 1 agent: 1/1 * 1/3.
    assert found.values == {
        "a": 0.0,
        "b": pytest.approx(1 / 3),
        "c": pytest.approx(4 / 9),
        "d": 0.5,
    }


@pytest.mark.requirement("graph:centrality")
def test_eigenvector_of_a_star_is_that_of_the_undirected_graph():
    found = Eigenvector().compute(team_of(*STAR))
    assert found.value == found.values["hub"] == pytest.approx(0.5**0.5, abs=1e-9)
    assert found.values["a"] == pytest.approx(8**-0.5, abs=1e-9)


def test_eigenvector_leaves_out_members_outside_of_the_largest_component():
    found = Eigenvector().compute(team_of(*CHAIN, ("x", "y"), roster=["idle"]))
    assert sorted(found.values) == ["a", "b", "c", "d"]
    assert sorted(found.skipped) == ["idle", "x", "y"]


def test_of_two_components_of_one_size_eigenvector_takes_that_which_calls_first():
    assert sorted(Eigenvector().compute(team_of(*reversed(TRIANGLES))).values) == ["r1", "r2", "r3"]


def test_eigenvector_of_a_long_chain_is_undefined_where_it_does_not_converge():
    found = Eigenvector().compute(team_of(*((f"a{n}", f"a{n + 1}") for n in range(600))))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("no convergence")


def test_eigenvector_of_a_large_team_is_known_where_it_converges():
    found = Eigenvector().compute(team_of(*(("hub", f"a{n}") for n in range(600))))
    assert found.values["hub"] == pytest.approx(0.5**0.5, abs=1e-9)
    assert found.values["a7"] == pytest.approx(1200**-0.5, abs=1e-9)


def test_eigenvector_of_a_chain_that_converges_slowly_is_that_of_a_path_graph():
    found = Eigenvector().compute(team_of(*((f"a{n}", f"a{n + 1}") for n in range(149))))
    entries = [math.sin(math.pi * place / 151) for place in range(1, 151)]
    norm = math.hypot(*entries)
    assert [found.values[f"a{n}"] for n in range(150)] == pytest.approx(
        [entry / norm for entry in entries], abs=1e-9
    )


@pytest.mark.requirement("graph:centrality")
def test_pagerank_of_a_pair_solves_its_two_equations():
    # a calls b, b calls nobody: a = .075 + .85 b / 2, b = .075 + .85 (a + b / 2), a + b = 1.
    found = PageRank().compute(team_of(("a", "b")))
    assert found.values["a"] == pytest.approx(0.5 / 1.425, abs=1e-11)
    assert sum(found.values.values()) == pytest.approx(1, abs=1e-11)


def test_pagerank_follows_the_number_of_calls():
    found = PageRank().compute(team_of(("a", "b"), ("a", "b"), ("a", "b"), ("a", "c")))
    assert found.values["b"] > found.values["c"]


def test_pagerank_of_a_ring_is_the_same_for_all():
    found = PageRank().compute(team_of(*CHAIN, ("d", "a")))
    assert set(found.values.values()) == {0.25}


def test_interaction_share_counts_every_call_of_an_agent_once():
    found = InteractionShare().compute(team_of(("a", "b"), ("a", "b"), ("a", "c"), ("c", "b")))
    assert found.values == {"a": 0.75, "b": 0.75, "c": 0.5}


def test_self_calls_are_no_part_of_any_centrality():
    calls = [("a", "a"), *CHAIN, ("b", "b")]
    for metric in METRICS:
        assert metric().compute(team_of(*calls)) == metric().compute(team_of(*CHAIN))


@pytest.mark.parametrize("metric", [Betweenness, InteractionShare])
def test_what_needs_a_third_agent_is_undefined_for_a_dyad(metric):
    found = metric().compute(team_of(("a", "b"), ("b", "a")))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("dyad")


@pytest.mark.parametrize("metric", [Degree, Closeness, Eigenvector, PageRank])
def test_other_centralities_are_defined_for_a_dyad(metric):
    found = value_of(metric().compute(team_of(("a", "b"), ("b", "a"))))
    assert found.status == "scored"
    assert found.agents["a"] == found.agents["b"] == found.value


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("calls", [[], [("a", "a")]])
def test_a_centrality_without_a_call_between_two_agents_is_undefined(metric, calls):
    found = metric().compute(team_of(*calls, roster=["a"]))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("empty")


def test_shortest_paths_of_a_graph_that_is_too_large_are_not_computed():
    calls = [(f"a{n}", f"a{n + 1}") for n in range(2300)]
    for metric in (Betweenness, Closeness):
        found = metric().compute(team_of(*calls))
        assert isinstance(found, Undefined)
        assert "2301 agents with 2300 connections" in found.reason


@pytest.mark.slow
def test_a_graph_with_as_many_shortest_paths_as_fit_has_finite_betweenness():
    layers = [(f"{n}{x}", f"{n + 1}{y}") for n in range(850) for x in "ab" for y in "ab"]
    found = value_of(Betweenness().compute(team_of(*layers)))
    assert found.status == "scored"
    # Halfway along, either of the two agents lies on half of the paths from one half to the other.
    assert found.value == pytest.approx(0.25, abs=0.001)
