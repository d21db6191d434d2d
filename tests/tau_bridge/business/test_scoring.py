"""Scores of scenarios, by hand."""

import pytest

from evals.outcome import Scored, Unscored
from tau_bridge.business.scoring import BASIS, EFFICIENCY, grade

CANCELLED = {"table": "orders", "id": "O-1", "fields": {"status": "cancelled", "pieces": 2}}


def expecting(**fields):
    return {"expected": {"outcome": "allow", "must_say": [["O-1"]], **fields}}


def scores(world, *answers):
    components = grade(world, answers or ("O-1",)).components
    return tuple(each.outcome.value for each in components if each.name in BASIS)


def efficiency(world, *answers):
    [found] = [
        each.outcome
        for each in grade(world, answers or ("O-1",)).components
        if each.name == EFFICIENCY
    ]
    return found.value if isinstance(found, Scored) else found


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


LOOKS = ("get_order", {"order_id": "O-1"})
ASKS = ("request_approval", {"subject_id": "O-1"})
TWO_CALLS = [
    {"say": "Which one?", "calls": [{"tool": "get_order", "params": {"order_id": "O-1"}}]},
    {"say": "O-1", "calls": [{"tool": "find_orders"}]},
]


@pytest.mark.parametrize(
    ("calls", "value"),
    [
        ([LOOKS], 1.0),
        ([LOOKS, ASKS], 1.0),
        ([LOOKS, LOOKS, ASKS], pytest.approx(2 / 3)),
        ([LOOKS, ("get_order", {}), ("no_tool", {}), LOOKS], 0.5),
    ],
)
def test_tool_efficiency_is_the_gold_calls_over_all_calls_made_refused_ones_too(
    make_world, calls, value
):
    world = make_world(**expecting(), gold=TWO_CALLS)
    for tool, arguments in calls:
        world.call(tool, arguments)
    assert efficiency(world) == value


def test_tool_efficiency_is_unscored_where_it_says_nothing(make_world):
    assert EFFICIENCY not in BASIS
    idle = make_world(**expecting(), gold=TWO_CALLS)
    assert efficiency(idle) == Unscored(reason="the agent made no call")
    unsolved = make_world(**expecting(), gold=TWO_CALLS)
    unsolved.call(*LOOKS)
    assert efficiency(unsolved, "no") == Unscored(reason="the scenario was not solved")
    needless = make_world(**expecting())
    needless.call(*LOOKS)
    assert efficiency(needless) == Unscored(reason="the gold solution makes no call")


def test_the_check_of_tool_efficiency_tells_how_many_calls_were_made(make_world):
    world = make_world(**expecting(), gold=TWO_CALLS)
    for _ in range(2):
        world.call(*LOOKS)
    [check] = grade(world, ["O-1"]).components[-1].checks
    assert (check.met, check.reason) == (True, None)
    world.call(*LOOKS)
    [check] = grade(world, ["O-1"]).components[-1].checks
    assert (check.met, check.reason) == (False, "the agent made 3")
    assert check.description.endswith("which makes 2")
