import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.graph import centralization, paths, rewiring, structure
from evals.graph.interactions import Interactions
from evals.graph.metric import value_of
from evals.graph.rewiring import NAMES, percentiles
from evals.trace import CallType, InteractionStep, Trace

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


STAR = [("hub", leaf) for leaf in "abcd"]
CLIQUES = [
    (side + one, side + other)
    for side in "lr"
    for one in "01234"
    for other in "01234"
    if one != other
]
CHAIN = [(f"a{n}", f"a{n + 1}") for n in range(9)]


@st.composite
def graphs(draw):
    size = draw(st.integers(3, 8))
    bits = draw(st.lists(st.booleans(), min_size=size * size, max_size=size * size))
    present = np.array(bits, dtype=bool).reshape(size, size)
    np.fill_diagonal(present, val=False)
    return present


@pytest.mark.requirement("graph:structure")
def test_two_cliques_with_a_bridge_stand_out_among_graphs_of_their_degrees():
    found = percentiles(team([*CLIQUES, ("l0", "r0")]))
    assert found["betweenness_centralization"].value == 1
    assert found["clustering_coefficient"].value == 1
    assert found["hierarchy"].value == 1
    assert found["global_efficiency"].value == 0
    assert found["clustering_coefficient"].samples == 100
    assert found["clustering_coefficient"].mean < found["clustering_coefficient"].observed


def test_a_chain_reaches_farther_than_most_graphs_of_its_degrees():
    found = percentiles(team(CHAIN))
    assert found["average_path_length"].value > 0.9
    assert found["weighted_reciprocity"].value < 1


def test_density_which_the_degrees_fix_has_no_percentile():
    found = percentiles(team(CHAIN))["density"]
    assert found.value is None
    assert found.reason.startswith("fixed")


@pytest.mark.parametrize("calls", [STAR, CHAIN[:2], [(b, a) for a, b in STAR]])
def test_a_graph_that_its_degrees_determine_has_no_percentiles(calls):
    found = percentiles(team(calls))
    assert list(found) == list(NAMES)
    assert all(
        one.value is None and one.reason.startswith("no other graph") for one in found.values()
    )


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ([], "empty"),
        ([("a", "b"), ("b", "a")], "dyad"),
        (
            [(f"a{n}", f"a{n + 1}") for n in range(50)],
            "too large: .* up to 50 agents, there are 51",
        ),
    ],
)
def test_teams_that_cannot_be_compared_say_why(calls, reason):
    for percentile in percentiles(team(calls)).values():
        assert percentile.value is None
        assert percentile.samples == 0
        assert re.match(reason, percentile.reason)


def test_the_same_seed_gives_the_same_and_names_of_agents_do_not_matter():
    renamed = [(caller[::-1], callee[::-1]) for caller, callee in CLIQUES]
    first = percentiles(team([*CLIQUES, ("l0", "r0")]), seed=7)
    assert percentiles(team([*CLIQUES, ("l0", "r0")]), seed=7) == first
    assert percentiles(team([*renamed, ("0l", "0r")]), seed=7) == first


@settings(max_examples=30)
@given(graphs(), st.integers(0, 1000))
def test_random_graphs_keep_all_degrees_and_the_calls_of_each_caller(present, seed):
    calls = np.where(present, np.arange(present.size).reshape(present.shape) % 5 + 1.0, 0.0)
    stack = rewiring._rewired(present, calls, 20, np.random.default_rng(seed))
    assert (stack.present.sum(axis=2) == present.sum(axis=1)).all()
    assert (stack.present.sum(axis=1) == present.sum(axis=0)).all()
    assert not stack.present[:, range(len(present)), range(len(present))].any()
    assert ((stack.calls > 0) == stack.present).all()
    assert (np.sort(stack.calls, axis=2) == np.sort(calls, axis=1)).all()


def test_every_graph_of_the_same_degrees_is_drawn_about_equally_often():
    # Three agents call one of three others each: the degrees leave the 6 ways to pair them.
    present = np.zeros((6, 6), dtype=bool)
    present[[0, 1, 2], [3, 4, 5]] = True
    stack = rewiring._rewired(present, present * 1.0, 1200, np.random.default_rng(3)).present
    _, counts = np.unique(stack.reshape(1200, -1), axis=0, return_counts=True)
    assert len(counts) == 6
    # 200 each are expected, with a standard deviation of 13.
    assert counts.min() > 140
    assert counts.max() < 260


@given(graphs())
def test_a_graph_can_be_traded_if_and_only_if_some_trade_changes_it(present):
    stack = rewiring._rewired(present, present * 1.0, 60, np.random.default_rng(1)).present
    changed = (stack != present).any()
    assert rewiring._can_trade(present) or not changed
    if rewiring._can_trade(present):
        assert changed


@pytest.mark.parametrize("calls", [[*CLIQUES, ("l0", "r0")], CHAIN, [*CHAIN, ("a9", "a2")]])
def test_the_observed_value_is_the_metric_itself(calls):
    metrics = {
        metric.name: metric()
        for module in (structure, paths, centralization)
        for metric in module.METRICS
    }
    found = percentiles(team(calls), samples=1)
    for name in rewiring._MEASURES:
        expected = value_of(metrics[name].compute(team(calls))).value
        assert found[name].observed == pytest.approx(expected, abs=1e-11), name
