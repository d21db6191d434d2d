import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph import matrices, sweep
from evals.graph.sweep import Arcs


def arcs(present):
    return Arcs.of(len(present), *np.nonzero(present))


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
    expected = floyd_warshall(present)
    assert (sweep.distances(arcs(present)) == expected).all()
    assert (matrices.distances(present[None])[0] == expected).all()


@given(graphs())
def test_both_ways_to_count_betweenness_agree(present):
    both = present | present.T
    expected = matrices.betweenness(both[None])[0]
    assert sweep.betweenness(arcs(both)) == pytest.approx(expected, abs=1e-9)


def test_a_stack_of_graphs_of_different_depth_is_measured_graph_by_graph():
    chain = np.eye(5, k=1, dtype=bool)
    star = np.zeros((5, 5), dtype=bool)
    star[0, 1:] = True
    stack = np.stack([chain | chain.T, star | star.T])
    assert matrices.betweenness(stack).tolist() == [[0, 6, 8, 6, 0], [12, 0, 0, 0, 0]]
    assert matrices.distances(stack).max(axis=(1, 2)).tolist() == [4, 2]


def test_blocks_of_one_source_each_give_the_same(monkeypatch):
    ring = np.roll(np.eye(7, dtype=bool), 1, axis=1)
    together = sweep.distances(arcs(ring)), sweep.betweenness(arcs(ring | ring.T))
    monkeypatch.setattr(sweep, "_BLOCK", 1)
    assert (sweep.distances(arcs(ring)) == together[0]).all()
    assert sweep.betweenness(arcs(ring | ring.T)).tolist() == together[1].tolist()
