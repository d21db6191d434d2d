"""The metrics against networkx and igraph, wherever the definition is the same."""

from datetime import UTC, datetime, timedelta

import igraph
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph import centrality, centralization, load, paths, structure
from evals.graph.communities import communities, modularity
from evals.graph.interactions import Interactions
from evals.graph.metric import value_of
from evals.trace import CallType, InteractionStep, Trace

METRICS = {
    metric.name: metric()
    for module in (centrality, structure, paths, centralization, load)
    for metric in module.METRICS
}
NAMES = "abcdefghij"

T0 = datetime(2026, 1, 1, tzinfo=UTC)


def step(second, caller, callee):
    return InteractionStep(
        step_id=f"s{second:04}",
        trace_id="t",
        call_type=CallType.AGENT,
        caller=caller,
        callee=callee,
        start_time=T0 + timedelta(seconds=second),
        end_time=T0 + timedelta(seconds=second + 1),
    )


def team(pairs, roster=None):
    """The interactions of agents that call each other one after the other."""
    steps = tuple(step(second, *pair) for second, pair in enumerate(pairs))
    return Interactions.of(Trace(trace_id="t", steps=steps), roster)


@st.composite
def teams(draw, least=2):
    """Calls of 2 to 10 agents, at least one between two of them, and a roster of them all."""
    size = draw(st.integers(least, 10))
    agent = st.sampled_from(NAMES[:size])
    pairs = draw(st.lists(st.tuples(agent, agent), min_size=1, max_size=40))
    return team([*pairs, ("a", "b")], NAMES[:size])


def computed(name, interactions):
    return value_of(METRICS[name].compute(interactions))


def directed(interactions):
    graph = nx.DiGraph()
    graph.add_nodes_from(interactions.members)
    for (caller, callee), calls in interactions.weights.items():
        graph.add_edge(caller, callee, weight=calls)
    return graph


def in_igraph(interactions):
    number = {name: at for at, name in enumerate(interactions.members)}
    edges = [(number[one], number[other]) for one, other in interactions.weights]
    return igraph.Graph(len(number), edges, directed=True)


def close(expected):
    return pytest.approx(expected, abs=1e-9)


def check_centralities(interactions):
    graph = directed(interactions)
    halved = {name: value / 2 for name, value in nx.degree_centrality(graph).items()}
    assert computed("degree", interactions).agents == close(halved)
    between = nx.betweenness_centrality(graph.to_undirected())
    assert computed("betweenness", interactions).agents == close(between)
    assert computed("closeness", interactions).agents == close(nx.closeness_centrality(graph))
    rank = nx.pagerank(graph, tol=1e-12, max_iter=5000)
    assert computed("pagerank", interactions).agents == close(rank)


@pytest.mark.requirement("graph:centrality")
@given(teams(least=3))
def test_centralities_agree_with_networkx(interactions):
    check_centralities(interactions)


@pytest.mark.parametrize("calls", [90, 400, 6000])
def test_centralities_of_eighty_agents_agree_with_networkx(calls):
    names = [f"agent {number}" for number in range(80)]
    pairs = np.random.default_rng(calls).choice(names, size=(calls, 2)).tolist()
    check_centralities(team(pairs, names))


@pytest.mark.requirement("graph:centrality")
@given(teams())
def test_eigenvector_agrees_with_networkx_on_the_component(interactions):
    found = computed("eigenvector", interactions)
    both = directed(interactions).to_undirected()
    assert len(found.agents) == len(max(nx.connected_components(both), key=len))
    # networkx takes numpy's decomposition only through scipy, which refuses two nodes.
    if len(found.agents) > 2:
        expected = nx.eigenvector_centrality_numpy(both.subgraph(found.agents))
        assert found.agents == close({name: abs(value) for name, value in expected.items()})


@pytest.mark.requirement("graph:structure")
@given(teams(least=3))
def test_structure_agrees_with_networkx(interactions):
    graph = directed(interactions)
    both = graph.to_undirected()
    assert computed("density", interactions).value == close(nx.density(graph))
    clustering = nx.average_clustering(both)
    assert computed("clustering_coefficient", interactions).value == close(clustering)
    weak = nx.number_weakly_connected_components(graph)
    assert computed("connected_components", interactions).value == weak
    cuts = computed("articulation_agents", interactions)
    assert sorted(cuts.details["agents"]) == sorted(nx.articulation_points(both))


@given(teams(least=3))
def test_dominators_agree_with_networkx(interactions):
    found = computed("dominators", interactions)
    if found.value is not None:
        root = found.details["root"]
        above = nx.immediate_dominators(directed(interactions), root)
        assert set(found.details["dominated"]) == {
            dominator for agent, dominator in above.items() if dominator not in (agent, root, None)
        }


@pytest.mark.requirement("graph:paths")
@given(teams())
def test_paths_agree_with_networkx(interactions):
    lengths = [
        length
        for source, found in nx.all_pairs_shortest_path_length(directed(interactions))
        for target, length in found.items()
        if source != target
    ]
    possible = len(interactions.members) * (len(interactions.members) - 1)
    average = sum(lengths) / len(lengths)
    assert computed("average_path_length", interactions).value == close(average)
    assert computed("diameter", interactions).value == max(lengths)
    assert computed("reachable_fraction", interactions).value == close(len(lengths) / possible)
    efficiency = sum(1 / length for length in lengths) / possible
    assert computed("global_efficiency", interactions).value == close(efficiency)


@given(teams(least=3))
def test_igraph_agrees(interactions):
    graph = in_igraph(interactions)
    both = graph.as_undirected()
    pairs = (graph.vcount() - 1) * (graph.vcount() - 2) / 2
    between = [value / pairs for value in both.betweenness()]
    found = computed("betweenness", interactions).agents
    assert [found[name] for name in interactions.members] == close(between)
    local = both.transitivity_avglocal_undirected(mode="zero")
    assert computed("clustering_coefficient", interactions).value == close(local)
    average = graph.average_path_length(directed=True, unconn=True)
    assert computed("average_path_length", interactions).value == close(average)
    assert computed("diameter", interactions).value == graph.diameter(directed=True, unconn=True)
    rank = graph.pagerank(weights=list(interactions.weights.values()))
    ranks = computed("pagerank", interactions).agents
    assert [ranks[name] for name in interactions.members] == close(rank)


@given(teams(least=3))
def test_centralizations_follow_from_the_values_of_networkx(interactions):
    graph = directed(interactions)
    size = len(graph)
    between = nx.betweenness_centrality(graph.to_undirected()).values()
    expected = sum(max(between) - value for value in between) / (size - 1)
    assert computed("betweenness_centralization", interactions).value == close(expected)
    degrees = [degree for _, degree in graph.to_undirected().degree()]
    expected = sum(max(degrees) - value for value in degrees) / ((size - 1) * (size - 2))
    assert computed("degree_centralization", interactions).value == close(expected)


@given(teams(least=6))
def test_modularity_of_a_partition_agrees_with_networkx_and_the_search_never_loses_any(
    interactions,
):
    graph = nx.convert_node_labels_to_integers(directed(interactions), ordering="sorted")
    weights = {(a, b): calls for a, b, calls in graph.edges(data="weight")}
    group = communities(len(graph), weights)
    sets = [{v for v in graph if group[v] == at} for at in sorted(set(group))]
    assert modularity(group, weights) == close(nx.community.modularity(graph, sets))
    # A greedy search may end below the best; never below what it began with, or one group of all.
    assert modularity(group, weights) >= max(0.0, modularity(range(len(graph)), weights)) - 1e-12


@pytest.mark.requirement("graph:build")
@given(teams(), st.permutations(NAMES))
def test_another_name_for_each_agent_changes_no_value(interactions, names):
    renamed = dict(zip(NAMES, names, strict=True))
    calls = [(renamed[call.caller], renamed[call.callee]) for call in interactions.agent_calls]
    other = team(calls, [renamed[name] for name in interactions.members])
    for name in METRICS:
        before, after = computed(name, interactions), computed(name, other)
        assert (before.value, before.reason) == (after.value, after.reason)
        if before.agents is not None:
            same = {renamed[agent]: value for agent, value in before.agents.items()}
            assert after.agents == same


@pytest.mark.requirement("graph:build")
@given(teams(), st.randoms(use_true_random=False))
def test_the_order_in_which_steps_are_given_changes_no_value(interactions, shuffler):
    calls = [(call.caller, call.callee) for call in interactions.agent_calls]
    steps = [step(second, *pair) for second, pair in enumerate(calls)]
    shuffler.shuffle(steps)
    trace = Trace(trace_id="t", steps=tuple(steps))
    other = Interactions.of(trace, interactions.members)
    for name in METRICS:
        assert computed(name, other) == computed(name, interactions)
