import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph import matrices
from evals.graph.view import MATRIX_AGENTS, GraphView


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 9))
    bits = draw(st.lists(st.booleans(), min_size=size * size, max_size=size * size))
    present = np.array(bits, dtype=bool).reshape(size, size)
    np.fill_diagonal(present, val=False)
    return present


def floyd_warshall(present):
    """Distances by trying every agent as a stop on every way; -1 where there is none."""
    length = np.where(present, 1.0, np.inf)
    np.fill_diagonal(length, 0)
    for stop in range(len(present)):
        length = np.minimum(length, length[:, [stop]] + length[[stop], :])
    return np.where(np.isinf(length), -1, length)


@given(graphs())
def test_distances_are_those_of_floyd_and_warshall(present):
    assert (matrices.distances(present[None])[0] == floyd_warshall(present)).all()


def test_a_stack_of_graphs_of_different_depth_is_measured_graph_by_graph():
    chain = np.eye(5, k=1, dtype=bool)
    star = np.zeros((5, 5), dtype=bool)
    star[0, 1:] = True
    stack = np.stack([chain | chain.T, star | star.T])
    assert matrices.betweenness(stack).tolist() == [[0, 6, 8, 6, 0], [12, 0, 0, 0, 0]]
    assert matrices.distances(stack).max(axis=(1, 2)).tolist() == [4, 2]


@pytest.mark.parametrize("steps", [60, 200, 2000])
def test_matrices_and_networkx_agree_where_the_one_takes_over_from_the_other(steps, monkeypatch):
    pairs = np.random.default_rng(steps).integers(MATRIX_AGENTS, size=(steps, 2)).tolist()
    weights = {(one, other): 1 for one, other in pairs if one != other}
    names = [f"agent {number}" for number in range(MATRIX_AGENTS)]
    small = GraphView(names, weights)
    monkeypatch.setattr("evals.graph.view.MATRIX_AGENTS", 0)
    large = GraphView(names, weights)
    assert (large.distances == floyd_warshall(small.present)).all()
    monkeypatch.undo()
    assert (small.distances == large.distances).all()
    assert small.betweenness == pytest.approx(large.betweenness, abs=1e-9)
