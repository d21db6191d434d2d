"""Where the agents of a team stand in the picture."""

from hypothesis import given
from hypothesis import strategies as st

from adk_agent.present.page.layout import place


def test_a_tree_is_drawn_in_layers_and_a_mesh_in_a_ring():
    tree = place(["r", "a", "b"], [("r", "a"), ("r", "b")], "r")
    assert tree["r"][1] < tree["a"][1] == tree["b"][1]
    assert tree["a"][0] + tree["b"][0] == 2 * tree["r"][0]
    mesh = place("abc", [(x, y) for x in "abc" for y in "abc" if x != y], None)
    assert len({y for _, y in mesh.values()}) > 1
    assert len(set(mesh.values())) == 3


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"))), st.randoms())
def test_a_layout_places_every_agent_once_and_does_not_depend_on_the_order_of_calls(edges, random):
    mixed = [*edges]
    random.shuffle(mixed)
    placed = place("abcdef", edges, None)
    assert placed == place("abcdef", mixed, None)
    assert len(set(placed.values())) == 6
