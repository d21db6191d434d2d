"""Worlds: who may call what, what comes back, and in which state a task begins."""

import json
import sys
from datetime import date, datetime

import pytest

from tau_bridge.errors import DataError, HarnessError, UnknownDomainError
from tau_bridge.tau2 import toolkits
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.domains import Domain, load_domain
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.messages import ToolCall
from tau_bridge.tau2.mock import mock_blueprint
from tau_bridge.tau2.rendering import render
from tau_bridge.tau2.replay import apply_gold, new_world
from tau_bridge.tau2.tasks import GoldAction, parse_task
from tau_bridge.tau2.tool_names import TOOL_NAMES
from tau_bridge.tau2.toolkits import airline_blueprint, retail_blueprint, telecom_blueprint

COMPLETE = {"task_id": "task_1", "status": "completed"}


def task(**initial_state):
    return parse_task(
        {
            "id": "t",
            "user_scenario": {"instructions": "Do it."},
            "initial_state": initial_state or None,
        }
    )


def ask(world, name, requestor="assistant", /, **arguments):
    return world.respond(ToolCall(id="call_1", name=name, arguments=arguments, requestor=requestor))


def refusal(world, name, requestor="assistant", /, **arguments):
    """The text of an error result."""
    message = ask(world, name, requestor, **arguments)
    assert message.error
    return message.content


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


@pytest.mark.parametrize(
    ("name", "requestor"),
    [
        ("_get_line_by_id", "assistant"),
        ("set_data_usage", "assistant"),
        ("calculate", "assistant"),
        ("break_vpn", "user"),
        ("simulate_network_search", "user"),
        ("turn_data_on", "user"),
    ],
)
def test_helpers_of_the_borrowed_toolkits_cannot_be_called(telecom, name, requestor):
    content = refusal(new_world(telecom, task()), name, requestor)
    assert content == f"Error: Tool '{name}' not found."


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


def test_numbers_outside_of_a_model_are_rendered_as_text_and_inside_as_numbers(telecom):
    world = new_world(telecom, task())
    usage = json.loads(ask(world, "get_data_usage", customer_id="C1001", line_id="L1001").content)
    assert (usage["data_used_gb"], usage["cycle_end_date"]) == ("3.2", "2025-02-28")
    line = json.loads(ask(world, "get_details_by_id", id="L1001").content)
    assert (line["data_used_gb"], line["status"]) == (3.2, "Active")
    assert refusal(world, "get_details_by_id", id="X1") == "Error: Unknown ID format or type: X1"


def test_apn_settings_with_unknown_keys_are_refused(telecom):
    world = new_world(telecom, task())
    refused = refusal(world, "set_apn_settings", "user", apn_settings={"apn": "internet"})
    assert refused.startswith("Error: 1 validation error for APNSettings\napn\n  Extra inputs")
    message = ask(world, "set_apn_settings", "user", apn_settings={"apn_name": "internet"})
    assert message.content.startswith("APN settings set to: internet\n")


def test_a_broken_vpn_is_broken_in_its_own_world_only(telecom):
    slow = task(
        initialization_actions=[{"env_type": "user", "func_name": "break_vpn", "arguments": {}}]
    )
    status = ask(new_world(telecom, slow), "check_vpn_status", "user").content
    assert "poor" in status.lower()
    fresh = new_world(telecom, task())
    ask(fresh, "connect_vpn", "user")
    assert "poor" not in ask(fresh, "check_vpn_status", "user").content.lower()


def test_values_that_a_tool_assigns_unchecked_raise_no_warning(airline):
    world = new_world(airline, task())
    message = ask(
        world,
        "update_reservation_baggages",
        reservation_id="4WQ150",
        total_baggages="many",
        nonfree_baggages=0,
        payment_id=next(iter(_user_of(world, "4WQ150")["payment_methods"])),
    )
    assert not message.error
    assert json.loads(message.content)["total_baggages"] == "many"
    assert world.differences(Environment(airline)) == ("agent's reservations['4WQ150']",)


def _user_of(world, reservation_id):
    reservation = ask(world, "get_reservation_details", reservation_id=reservation_id)
    user = json.loads(reservation.content)["user_id"]
    return json.loads(ask(world, "get_user_details", user_id=user).content)


def test_retail_has_the_tools_that_the_port_lacks(retail):
    world = new_world(retail, task())
    products = json.loads(ask(world, "list_all_product_types").content)
    assert list(products) == sorted(products)
    assert len(products) == 50
    product = json.loads(ask(world, "get_product_details", product_id=products["Laptop"]).content)
    item, details = next(iter(product["variants"].items()))
    assert json.loads(ask(world, "get_item_details", item_id=item).content) == details
    assert refusal(world, "get_item_details", item_id="0") == "Error: Item not found"
    assert ask(world, "calculate", expression="6 * 7").content == "42.0"
    moved = ask(world, "transfer_to_human_agents", summary="x")
    assert moved.content == "Transfer successful"


def test_invalid_data_behind_a_tool_are_a_fault_of_the_harness_and_no_result(package_source):
    database = {"products": {}, "users": {}, "orders": {"#1": {"order_id": "#1"}}}
    domain = Domain(package_source, "retail", retail_blueprint(database))
    with pytest.raises(HarnessError, match="row '#1' of table 'orders'"):
        ask(new_world(domain, task()), "get_order_details", order_id="#1")
    cancel = GoldAction(name="cancel_pending_order", arguments={"order_id": "#1", "reason": "x"})
    with pytest.raises(HarnessError, match="row '#1'"):
        apply_gold(Environment(domain), [cancel])


@pytest.mark.usefixtures("package_source")  # where it is skipped, so is this
def test_another_version_of_the_package_is_warned_of_once(monkeypatch, caplog):
    toolkits._warn_of_another_version.cache_clear()
    monkeypatch.setattr(toolkits, "TESTED_VERSION", "0.0.1")
    for _ in range(2):
        load_domain(open_source(None), "retail")
    toolkits._warn_of_another_version.cache_clear()
    [record] = caplog.records
    assert "scores were proven with 0.0.1" in record.getMessage()


# -- rendering -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "null"),
        (1.5, '"1.5"'),
        (True, '"True"'),
        ([1, ("a", None)], '["1", ["a", null]]'),
        ({"when": date(2025, 2, 3), "n": {"m": 2}}, '{"when": "2025-02-03", "n": {"m": "2"}}'),
        (datetime(2025, 2, 3, 4), '"2025-02-03T04:00:00"'),  # noqa: DTZ001 - telecom's are naive
    ],
)
def test_what_a_tool_returns_becomes_text_by_the_official_rules(value, text):
    assert render(value) == text


def test_what_has_no_rendering_is_a_fault_of_the_harness():
    with pytest.raises(HarnessError, match="object"):
        render([object()])


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


# -- schemas ---------------------------------------------------------------------------------------


def test_schemas_are_in_the_official_order_and_complete(mock, airline, retail, telecom):
    for domain in (mock, airline, retail, telecom):
        world = new_world(domain, task())
        for tools, names in (
            (world.agent_tools, domain.tool_names.agent),
            (world.user_tools, domain.tool_names.user),
        ):
            assert [tool["function"]["name"] for tool in tools] == list(names)
            assert all(tool["function"]["description"].strip() for tool in tools)
        json.dumps(world.agent_tools + world.user_tools)


def test_a_schema_has_the_official_shape(mock):
    tool = next(t for t in mock.agent_schemas if t["function"]["name"] == "update_task_status")
    assert tool == {
        "type": "function",
        "function": {
            "name": "update_task_status",
            "description": "Update the status of a task.",
            "parameters": {
                "properties": {
                    "task_id": {
                        "description": "The ID of the task to update",
                        "title": "Task Id",
                        "type": "string",
                    },
                    "status": {
                        "description": "The new status of the task",
                        "enum": ["pending", "completed"],
                        "title": "Status",
                        "type": "string",
                    },
                },
                "required": ["task_id", "status"],
                "title": "parameters",
                "type": "object",
            },
        },
    }


def test_schemas_say_what_the_official_ones_say_where_the_port_differs(telecom, airline):
    tools = {
        tool["function"]["name"]: tool["function"]
        for domain in (telecom, airline)
        for tool in domain.agent_schemas + domain.user_schemas
    }
    apn = tools["set_apn_settings"]["parameters"]
    assert apn["$defs"]["APNSettings"]["additionalProperties"] is False
    assert "description" not in apn["properties"]["apn_settings"]
    assert tools["refuel_data"]["description"].count("\n") == 3
    flights = tools["book_reservation"]["parameters"]["properties"]["flights"]
    assert flights["description"].endswith("each piece of flight.")


def test_the_whitelist_counts_the_tools_that_change_state():
    changing = {
        name: (sum(names.agent.values()), sum(names.user.values()))
        for name, names in TOOL_NAMES.items()
    }
    assert changing == {"airline": (6, 0), "mock": (2, 1), "retail": (7, 0), "telecom": (6, 15)}


# -- what cannot be loaded -------------------------------------------------------------------------


def test_an_unknown_domain_cannot_be_loaded(mock_folder):
    with pytest.raises(UnknownDomainError):
        load_domain(open_source(mock_folder), "retail")


@pytest.mark.parametrize("database", [None, [], {"tasks": {}}, {"tasks": {}, "users": {}, "x": 1}])
def test_a_mock_database_that_is_none_is_a_data_error(database):
    with pytest.raises(DataError, match="MockDB"):
        mock_blueprint(database)


def test_databases_that_are_none_are_data_errors(package_source):
    with pytest.raises(DataError, match="database of airline"):
        airline_blueprint({"flights": {}})
    with pytest.raises(DataError, match="TelecomDB"):
        telecom_blueprint(b"plans = 1", package_source.database_file("telecom", user=True))
    with pytest.raises(DataError, match="TelecomUserDB"):
        telecom_blueprint(package_source.database_file("telecom"), b"= broken")


def test_without_inspect_evals_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_evals.tau2.airline.data_model", None)
    with pytest.raises(DataError, match=r"extra .tau2. .*make setup"):
        airline_blueprint({"flights": {}, "users": {}, "reservations": {}})
