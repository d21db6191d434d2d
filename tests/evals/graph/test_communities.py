import pytest

from evals.graph.communities import communities, modularity


def clique(nodes, calls=1):
    return {(one, other): calls for one in nodes for other in nodes if one != other}


def test_two_cliques_with_a_bridge_are_two_groups():
    weights = {**clique(range(4)), **clique(range(4, 8)), (0, 4): 1}
    assert communities(8, weights) == [0, 0, 0, 0, 1, 1, 1, 1]


def test_a_ring_of_cliques_is_merged_level_by_level():
    weights = {}
    for first in range(0, 60, 5):
        weights |= clique(range(first, first + 5))
        weights[(first, (first + 5) % 60)] = 1
    group = communities(60, weights)
    assert all(len(set(group[first : first + 5])) == 1 for first in range(0, 60, 5))


def test_a_node_without_edges_is_a_group_of_its_own():
    assert communities(4, clique(range(3))) == [0, 0, 0, 1]


def test_one_group_of_all_has_modularity_0():
    assert modularity([0, 0, 0], clique(range(3))) == 0


def test_modularity_weighs_calls_by_their_number():
    # Inside: 9 + 9 of 20; each group makes and receives 10.
    weights = {(0, 1): 9, (2, 3): 9, (1, 2): 1, (3, 0): 1}
    assert modularity([0, 0, 1, 1], weights) == pytest.approx(18 / 20 - 2 * 100 / 400)


def test_a_node_joins_the_group_that_it_calls_most_often():
    weights = {**clique(range(3)), **clique(range(3, 6)), (6, 0): 1, (6, 3): 2, (4, 6): 1}
    assert communities(7, weights) == [0, 0, 0, 1, 1, 1, 1]


def test_a_single_call_ties_as_much_as_its_weight_says():
    # Of all groupings of this path the best is that of its two ends; each call weighs 1.
    weights = {(0, 1): 1, (1, 2): 1, (2, 3): 1}
    assert communities(4, weights) == [0, 0, 1, 1]


def test_nodes_are_moved_until_no_move_raises_modularity():
    # In the first pass node 2 joins node 0; only in the second does it join node 1.
    weights = dict.fromkeys([(0, 2), (2, 0), (1, 2), (2, 1), (3, 0)], 1)
    assert communities(4, weights) == [0, 1, 1, 0]
    assert modularity([0, 1, 1, 0], weights) == pytest.approx(3 / 5 - (2 * 2 + 3 * 3) / 25)


def test_the_same_graph_gives_the_same_groups():
    weights = {
        (a, b): 1 + (a * b) % 3 for a in range(12) for b in range(12) if (a + 2 * b) % 5 == 1
    }
    assert communities(12, weights) == communities(12, dict(weights))
