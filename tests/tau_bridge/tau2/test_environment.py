"""Worlds: who may call what, what comes back, and in which state a task begins."""

import json

import pytest

from tau_bridge.errors import HarnessError
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.replay import apply_gold, new_world
from tau_bridge.tau2.tasks import GoldAction
from tau_bridge.tau2.tool_names import TOOL_NAMES
from tau_bridge.tau2.toolkits import retail_blueprint
from tests.tau_bridge.tau2.asking import ask, refusal, task

COMPLETE = {"task_id": "task_1", "status": "completed"}


# -- calls and results -----------------------------------------------------------------------------


def test_a_result_carries_the_id_and_the_requestor_of_its_call(mock):
    message = ask(
        new_world(mock, task()), "dismiss_notification", "user", notification_id="notif_1"
    )
    assert (message.id, message.requestor, message.error) == ("call_1", "user", False)
    assert message.content == "Notification notif_1 dismissed"


def test_models_are_rendered_as_json_with_the_official_separators(mock):
    message = ask(new_world(mock, task()), "create_task", user_id="user_1", title="Sow")
    assert message.content == (
        '{"task_id": "task_2", "title": "Sow", "description": null, "status": "pending"}'
    )


def test_an_error_of_a_tool_is_a_result(mock):
    world = new_world(mock, task())
    assert refusal(world, "create_task", user_id="u", title="x") == "Error: User u not found"


def test_wrong_arguments_are_told_with_the_official_name_of_the_toolkit(mock, retail, telecom):
    assert refusal(new_world(mock, task()), "get_users", id=1) == (
        "Error: MockTools.get_users() got an unexpected keyword argument 'id'"
    )
    assert refusal(new_world(retail, task()), "get_item_details") == (
        "Error: RetailTools.get_item_details() missing 1 required positional argument: 'item_id'"
    )
    assert refusal(new_world(telecom, task()), "toggle_data", "user", on=True) == (
        "Error: TelecomUserTools.toggle_data() got an unexpected keyword argument 'on'"
    )


def test_the_requestor_decides_whose_toolkit_answers(mock):
    world = new_world(mock, task())
    assert refusal(world, "get_users", "user") == "Error: Tool 'get_users' not found."
    assert refusal(world, "check_notifications") == "Error: Tool 'check_notifications' not found."


def test_a_user_without_tools_is_told_so(retail):
    assert refusal(new_world(retail, task()), "calculate", "user", expression="1") == (
        "Error: User tools not available"
    )


@pytest.mark.parametrize(
    "name", ["assert_task_status", "assert_number_of_tasks", "db", "__init__", "delete_task", ""]
)
def test_functions_that_are_no_tools_cannot_be_called(mock, name):
    assert refusal(new_world(mock, task()), name) == f"Error: Tool '{name}' not found."


def test_a_failed_call_keeps_what_it_had_changed(mock):
    world = Environment(mock)
    # The to-do is stored first; then the tool looks for its owner's list, and fails.
    world.sides.tools.db.users["user_1"] = "nobody"
    assert ask(world, "create_task", user_id="user_1", title="x").error
    assert "task_2" in world.sides.tools.db.tasks


def test_worlds_do_not_see_each_other(mock, airline):
    one, other = new_world(mock, task()), new_world(mock, task())
    ask(one, "update_task_status", **COMPLETE)
    assert one.differences(Environment(mock)) == ("agent's tasks",)
    assert other.differences(Environment(mock)) == ()
    one = new_world(airline, task())
    assert not ask(one, "cancel_reservation", reservation_id="4WQ150").error
    shown = ask(new_world(airline, task()), "get_reservation_details", reservation_id="4WQ150")
    assert json.loads(shown.content)["status"] is None


# -- the borrowed toolkits where they must differ from the port ------------------------------------


def test_invalid_data_behind_a_tool_are_a_fault_of_the_harness_and_no_result(package_source):
    database = {"products": {}, "users": {}, "orders": {"#1": {"order_id": "#1"}}}
    domain = Domain(package_source, "retail", retail_blueprint(database))
    with pytest.raises(HarnessError, match="row '#1' of table 'orders'"):
        ask(new_world(domain, task()), "get_order_details", order_id="#1")
    cancel = GoldAction(name="cancel_pending_order", arguments={"order_id": "#1", "reason": "x"})
    with pytest.raises(HarnessError, match="row '#1'"):
        apply_gold(Environment(domain), [cancel])


# -- initial states ------------------------------------------------------------------------------


def test_initialization_actions_may_use_functions_that_are_no_tools(mock):
    action = {
        "env_type": "user",
        "func_name": "add_notification",
        "arguments": {"notification_id": "n2", "message": "hello"},
    }
    world = new_world(mock, task(initialization_actions=[action]))
    inbox = json.loads(ask(world, "check_notifications", "user").content)
    assert [entry["notification_id"] for entry in inbox] == ["notif_1", "n2"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("no_such_function", "names 'no_such_function'"),
        ("_get_secret", "names '_get_secret'"),
        ("__init__", "names '__init__'"),
        ("db", "names 'db'"),
        ("update_task_status", "raised ValueError: Task t9 not found"),
    ],
)
def test_an_initialization_action_that_does_not_work_is_a_fault_of_the_harness(mock, name, text):
    action = {
        "env_type": "assistant",
        "func_name": name,
        "arguments": {"task_id": "t9", "status": "pending"},
    }
    with pytest.raises(HarnessError, match=text):
        new_world(mock, task(initialization_actions=[action]))


def test_agent_data_make_both_sides_share_the_agents_database(mock):
    data = {"agent_data": {"users": {"user_1": {"name": "Bob"}}}}
    world = new_world(mock, task(initialization_data=data))
    [user] = json.loads(ask(world, "get_users").content)
    assert (user["name"], user["tasks"]) == ("Bob", ["task_1"])
    assert world.sides.user_tools.db is world.sides.tools.db
    assert refusal(world, "check_notifications", "user") == (
        "Error: 'MockDB' object has no attribute 'notifications'"
    )


def test_user_data_make_both_sides_share_the_users_database(mock):
    data = {"user_data": {"notifications": {"notif_1": {"status": "read"}}}}
    world = new_world(mock, task(initialization_data=data))
    [entry] = json.loads(ask(world, "check_notifications", "user").content)
    assert entry["status"] == "read"
    assert world.sides.tools.db is world.sides.user_tools.db
    assert refusal(world, "get_users") == "Error: 'MockUserDB' object has no attribute 'users'"


def test_initialization_data_reach_the_tables_of_one_world_only(retail):
    data = {"agent_data": {"orders": {"#W2378156": {"status": "pending"}}}}
    for world, status in (
        (new_world(retail, task(initialization_data=data)), "pending"),
        (new_world(retail, task()), "delivered"),
    ):
        order = json.loads(ask(world, "get_order_details", order_id="#W2378156").content)
        assert order["status"] == status


def test_data_for_a_user_who_has_no_database_are_a_fault_of_the_harness(retail):
    with pytest.raises(HarnessError, match="which retail has not"):
        new_world(retail, task(initialization_data={"user_data": {"x": 1}}))


def test_a_message_history_is_replayed_into_the_world(mock):
    call = {"id": "c", "name": "create_task", "arguments": {"user_id": "user_1", "title": "Sow"}}
    result = '{"task_id":"task_2","title":"Sow","description":null,"status":"pending"}'
    history = [
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "id": "c", "content": result},
    ]
    world = new_world(mock, task(message_history=history))
    [user] = json.loads(ask(world, "get_users").content)
    assert user["tasks"] == ["task_1", "task_2"]
    history[1]["content"] = '{"task_id": "task_77"}'
    with pytest.raises(HarnessError, match="task_77"):
        new_world(mock, task(message_history=history))


# -- solo mode -----------------------------------------------------------------------------------


def test_alone_the_agent_uses_both_toolkits(mock):
    world = new_world(mock, task(), solo=True)
    assert not ask(world, "get_users").error
    assert not ask(world, "check_notifications").error
    assert refusal(world, "check_notifications", "user") == (
        "Error: User tool calls are not allowed in solo mode"
    )


def test_alone_the_agent_sees_both_toolkits_and_its_own_policy(mock):
    world = new_world(mock, task(), solo=True)
    names = [tool["function"]["name"] for tool in world.agent_tools]
    assert names == [*TOOL_NAMES["mock"].agent, *TOOL_NAMES["mock"].user]
    assert (world.user_tools, world.policy) == ((), "Be quick.")
