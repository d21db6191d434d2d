"""What tools do to the records, and what they refuse."""

import pytest

from tau_bridge.business.world import UNAVAILABLE

LAMP = {"item": "red lamp", "status": "open", "pieces": 2, "locked": False}


def test_a_row_is_read_with_its_id(make_world):
    assert make_world().call("get_order", {"order_id": "O-1"}).result == {"order_id": "O-1", **LAMP}


def test_a_change_is_seen_by_the_next_read_and_by_no_other_world(make_world):
    first = make_world()
    changed = first.call("set_order", {"order_id": "O-1", "status": "cancelled"}).result
    assert changed == {"order_id": "O-1", **LAMP, "status": "cancelled"}
    assert first.call("get_order", {"order_id": "O-1"}).result == changed
    assert first.scenario.state["orders"]["O-1"] == LAMP
    assert make_world().call("get_order", {"order_id": "O-1"}).result["status"] == "open"


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["O-1", "O-2"]),
        ({"item": "LAMP"}, ["O-1"]),
        ({"status": "open"}, ["O-1"]),
        ({"item": "lampshade", "status": "open"}, []),
    ],
)
def test_rows_are_found_by_whole_words(make_world, wanted, found):
    result = make_world().call("find_orders", wanted).result
    assert [row["order_id"] for row in result] == found


def test_new_rows_get_ids_that_count_up(make_world):
    world = make_world()
    made = [world.call("add_order", {"item": item}).result for item in ("vase", "bowl")]
    assert made[0] == {"order_id": "O-9001", "item": "vase", "status": "open"}
    assert world.tables["orders"]["O-9002"] == {"item": "bowl", "status": "open"}


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("drop", {}, "unknown tool 'drop': there are add_order, escalate"),
        ("get_order", {"id": "O-1"}, "unknown parameter 'id': it takes order_id (string)"),
        ("set_order", {}, "missing parameter 'order_id': it takes order_id (string), status (stri"),
        ("get_order", {"order_id": 1}, "parameter 'order_id' must be of type string, not 1"),
        ("get_order", {"order_id": "x" * 99}, "404 not found: no record 'xxx"),
        ("set_order", {"order_id": "O-1", "status": "gone"}, "one of 'open', 'cancelled', not 'go"),
        ("set_order", {"order_id": "O-1", "pieces": 0}, "must be at least 1, not 0"),
        ("set_order", {"order_id": "O-1", "pieces": True}, "must be of type integer, not True"),
        ("set_order", {"order_id": "O-1", "pieces": "2"}, "must be of type integer, not '2'"),
        ("set_order", {"order_id": "O-2"}, "409 conflict: locked of O-2 is True, not False"),
        ("add_order", {"item": "vase", "like": "O-9"}, "404 not found: no record 'O-9' in orders"),
        ("get_approval", {"approval_id": "AP-7"}, "404 not found: no approval 'AP-7'"),
    ],
)
def test_a_call_that_cannot_be_made_changes_nothing_and_says_why(
    make_world, tool, arguments, error
):
    world = make_world()
    made = world.call(tool, arguments)
    assert error in made.error
    assert made.result is None
    assert world.tables == world.scenario.state


def test_parameters_have_new_names_from_the_first_call_on(make_world):
    world = make_world(tool={"drift": {"order_id": "orderId"}})

    def listed():
        [tool] = [each for each in world.listed() if each["name"] == "set_order"]
        return list(tool["input_schema"]["properties"]), tool["input_schema"]["required"]

    assert listed() == (["order_id", "status", "pieces"], ["order_id"])
    refused = world.call("set_order", {"order_id": "O-1", "status": "cancelled"})
    assert "unknown parameter 'order_id': it takes orderId (string)" in refused.error
    assert listed() == (["orderId", "status", "pieces"], ["orderId"])
    made = world.call("set_order", {"orderId": "O-1", "status": "cancelled"})
    assert made.arguments == {"order_id": "O-1", "status": "cancelled"}
    assert made.result["status"] == "cancelled"


def test_a_tool_that_fails_first_works_the_second_time(make_world):
    world = make_world(tool={"fails": "first"})
    wrong = world.call("set_order", {"order": "O-1"})
    results = [world.call("set_order", {"order_id": "O-1"}).error for _ in range(2)]
    assert "unknown parameter" in wrong.error
    assert results == [UNAVAILABLE, None]


def test_a_tool_that_is_down_stays_down(make_world):
    world = make_world(tool={"fails": "always"})
    calls = [world.call("set_order", {"order_id": "O-1", "status": "cancelled"}) for _ in range(3)]
    assert {call.error for call in calls} == {UNAVAILABLE}
    assert world.tables == world.scenario.state


@pytest.mark.parametrize(
    ("decision", "told"), [("approved", True), ("denied", False), (None, False)]
)
def test_an_approval_is_decided_at_once(make_world, decision, told):
    world = make_world(approvals={"O-1": decision} if decision else {})
    asked = world.call("request_approval", {"subject_id": "O-1"}).result
    assert asked == {"approval_id": "AP-1", "subject_id": "O-1", "approved": told}
    assert world.approvals_asked == {"O-1"}


def test_every_subject_has_one_approval_of_its_own(make_world):
    world = make_world(approvals={"O-2": "approved"})
    asked = [
        world.call("request_approval", {"subject_id": subject}).result
        for subject in ("O-1", "O-2", "O-1")
    ]
    assert [(each["approval_id"], each["approved"]) for each in asked] == [
        *[("AP-1", False), ("AP-2", True), ("AP-1", False)]
    ]
    assert world.approvals_asked == {"O-1", "O-2"}
    assert world.call("set_order", {"order_id": "O-1"}).approved_before == {"O-2"}


def test_a_pending_approval_counts_once_a_tool_has_told_of_it(make_world):
    world = make_world(approvals={"O-1": "pending"})
    pending = {"approval_id": "AP-1", "subject_id": "O-1", "status": "pending"}
    assert world.call("request_approval", {"subject_id": "O-1"}).result == pending
    assert world.call("request_approval", {"subject_id": "O-1"}).result == pending
    world.decide({"O-1": "approved"})
    before = world.call("set_order", {"order_id": "O-1"})
    assert before.approved_before == frozenset()
    assert world.call("get_approval", {"approval_id": "AP-1"}).result["approved"] is True
    assert world.call("set_order", {"order_id": "O-1"}).approved_before == {"O-1"}
