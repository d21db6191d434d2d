"""Scores of scenarios, by hand."""

import pytest

from tau_bridge.business.scoring import grade

CANCELLED = {"table": "orders", "id": "O-1", "fields": {"status": "cancelled", "pieces": 2}}


def expecting(**fields):
    return {"expected": {"outcome": "allow", "must_say": [["O-1"]], **fields}}


def scores(world, *answers):
    components = grade(world, answers or ("O-1",)).components
    return tuple(component.outcome.value for component in components)


def test_the_state_has_to_be_exactly_the_expected_one(make_world):
    change = {**CANCELLED, "fields": {"status": "cancelled"}}
    world = make_world(**expecting(changes=[change]))
    assert scores(world) == (0.0, 1.0, 1.0)
    world.call("set_order", {"order_id": "O-1", "status": "cancelled"})
    assert scores(world) == (1.0, 1.0, 1.0)
    world.call("set_order", {"order_id": "O-1", "pieces": 3})
    assert scores(world) == (0.0, 1.0, 1.0)
    [component] = [each for each in grade(world, []).components if each.name == "STATE"]
    assert [check.met for check in component.checks] == [True, False]
    assert component.checks[1].reason == "also: orders O-1: pieces 3"


def test_a_new_row_counts_whatever_its_id_and_once(make_world):
    row = {"table": "orders", "fields": {"item": "vase", "status": "open"}}
    world = make_world(**expecting(changes=[row]))
    world.call("add_order", {"item": "vase"})
    assert scores(world) == (1.0, 1.0, 1.0)
    world.call("add_order", {"item": "vase"})
    assert scores(world) == (0.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("where", "arguments", "kept"),
    [
        ({}, {"order_id": "O-2"}, 0.0),
        ({"order_id": "O-1"}, {"order_id": "O-2"}, 1.0),
        ({"order_id": "O-2"}, {"order_id": "O-2"}, 0.0),
        ({"order_id": "O-2"}, {"order_id": "O-2", "colour": "red"}, 1.0),
        ({"pieces": 1}, {"order_id": "O-2", "pieces": 1.0}, 1.0),
    ],
)
def test_a_forbidden_call_counts_if_it_is_well_formed_also_where_the_tool_refuses_it(
    make_world, where, arguments, kept
):
    world = make_world(**expecting(forbidden_calls=[{"tool": "set_order", "where": where}]))
    world.call("set_order", arguments)
    assert scores(world)[1] == kept


def test_a_call_is_forbidden_until_a_tool_has_told_of_the_approval(make_world):
    call = {"tool": "set_order", "until_approved": "O-1"}
    fields = expecting(forbidden_calls=[call], approvals=["O-1"], outcome="require_approval")
    for asks_first, kept in ((True, 1.0), (False, 0.0)):
        world = make_world(**fields, approvals={"O-1": "approved"})
        steps = [("request_approval", {"subject_id": "O-1"}), ("set_order", {"order_id": "O-1"})]
        for tool, arguments in steps if asks_first else reversed(steps):
            world.call(tool, arguments)
        assert scores(world)[1] == kept


@pytest.mark.parametrize(
    ("outcome", "subject", "kept"),
    [
        ("escalate", "O-1", 1.0),
        ("escalate", "O-2", 0.0),
        ("escalate", None, 0.0),
        ("allow", "O-1", 0.0),
        ("allow", None, 1.0),
        ("block", "O-1", 1.0),
        ("block", None, 1.0),
    ],
)
def test_cases_are_handed_over_where_that_is_right(make_world, outcome, subject, kept):
    world = make_world(**expecting(outcome=outcome, escalations=["O-1"]))
    if subject:
        world.call("escalate", {"subject_id": subject})
    assert scores(world)[1] == kept


def test_what_must_be_said_may_be_said_in_several_answers(make_world):
    fields = expecting(must_say=[["O-1"], ["done", "cancelled"]], must_not_say=["O-2"])
    world = make_world(**fields)
    assert scores(world, "O-1 is", "Cancelled.")[2] == 1.0
    assert scores(world, "O-1")[2] == 0.0
    assert scores(world, "O-1 and O-2 are done")[2] == 0.0
