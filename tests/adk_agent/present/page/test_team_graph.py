"""The picture of a team: labels that cover nothing, and the figures on them."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adk_agent.present.page.graph_labels import Curve, place_labels, text_box
from adk_agent.present.page.team_graph import (
    MOST_LABELS,
    Agent,
    Connection,
    _boxes,
    team_graph,
)
from evals.trace import ASSESSOR

NAMES = ("planner-with-a-name", "orders", "policy", "money", "care", "archive-of-records")


def agent(name, load=1, weak=""):
    label = name[:18]
    idle = not load
    return Agent(
        name=name,
        label=label,
        load=load,
        made=0,
        failed=0,
        weak=weak,
        assessor=name == ASSESSOR,
        idle=idle,
    )


def connection(caller, callee, **changes):
    fields = {
        "caller": caller,
        "callee": callee,
        "calls": 12,
        "reported": 0,
        "failed": 3,
        "seen": "observed",
        "median_ms": 1_234.0,
        "tokens": 12_345,
        "with_tokens": 12,
        "cost": None,
    }
    return Connection(**{**fields, **changes})


def overlaps(picture):
    """What covers another thing; an agent's mark and its own name are one thing."""
    boxes = [(each.name, box) for each in picture.agents for box in _boxes(each)]
    boxes += [
        ((c.caller, c.callee), text_box(c.label_x, c.label_y, c.label))
        for c in picture.connections
        if c.label
    ]
    return [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes, 2)
        if one != other and a.meets(b)
    ]


@pytest.mark.parametrize("members", range(2, 7))
def test_where_all_agents_of_a_small_team_call_each_other_every_label_has_room(members):
    names = NAMES[:members]
    pairs = [(ASSESSOR, names[0]), *itertools.permutations(names, 2)]
    agents = [agent(ASSESSOR), *(agent(name, load=5, weak="bottleneck") for name in names)]
    picture = team_graph(agents, [connection(*pair) for pair in pairs])
    assert [each.label for each in picture.connections] == [
        ("12× 1.2 s", "3 failed", "12.3k tokens")
    ] * len(pairs)
    assert overlaps(picture) == []


@settings(max_examples=25)
@given(st.sets(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES))), st.booleans())
def test_labels_of_any_small_team_cover_nothing_and_are_all_there(pairs, is_asked):
    pairs = [pair for pair in sorted(pairs) if pair[0] != pair[1]]
    if is_asked:
        pairs.append((ASSESSOR, NAMES[0]))
    agents = [*([agent(ASSESSOR)] if is_asked else []), *map(agent, NAMES)]
    picture = team_graph(agents, [connection(*pair) for pair in pairs])
    assert all(each.label for each in picture.connections)
    assert overlaps(picture) == []


def test_a_label_says_only_what_is_known():
    quiet = {"failed": 0, "median_ms": None, "tokens": None}
    plain, full = connection("a", "b", **quiet), connection("b", "a", failed=0)
    drawn = team_graph([agent("a"), agent("b")], [plain, full]).connections
    assert [each.label for each in drawn] == [("12×",), ("12× 1.2 s", "12.3k tokens")]
    assert plain.figures == "12 calls"
    assert replace(full, reported=2).figures == "12 calls, 2 reported, median 1.2 s, 12,345 tokens"


def test_a_large_team_has_numbers_on_its_lines_and_a_larger_one_none():
    names = [f"agent-{number}" for number in range(8)]
    ring = [connection(a, b) for a, b in itertools.pairwise(names)]
    picture = team_graph([*map(agent, names)], ring)
    assert {each.label for each in picture.connections} <= {("12× 1.2 s",), ()}
    assert overlaps(picture) == []
    every = [connection(a, b) for a, b in itertools.permutations(names, 2)]
    assert len(every) > MOST_LABELS
    drawn = team_graph([*map(agent, names)], every).connections
    assert {each.label for each in drawn} == {()}


def test_a_label_without_room_is_left_out():
    line = Curve(begin=(0, 0), middle=(10, 0), end=(20, 0))
    here = text_box(10, 0, ["in the way"])
    assert place_labels([line], [["12×"]], [here]) == [None]
    assert place_labels([line], [[]], []) == [None]
