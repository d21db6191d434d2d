"""Tools as they are told of."""

import json

from tau_bridge.tau2.replay import new_world
from tests.tau_bridge.tau2.asking import task


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
