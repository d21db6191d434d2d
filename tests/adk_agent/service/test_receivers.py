"""Who may be named to hear of a task, and how many."""

import pytest
from a2a.server.context import ServerCallContext

from adk_agent.service.receivers import MAX_CONFIG_BYTES, version_of
from tests.adk_agent.service.hooks import configuration


def test_configs_are_made_read_and_deleted_up_to_ten(client):
    task = client.send("wait", returnImmediately=True)
    where = {"taskId": task["id"]}
    for number in range(10):
        made = client.rpc_1_0(
            "CreateTaskPushNotificationConfig",
            id=f"c{number}",
            url="http://127.0.0.1:9/hook",
            **where,
        )
        assert made["result"]["id"] == f"c{number}"
    over = {"id": "c10", "url": "http://127.0.0.1:9/hook", **where}
    answer = client.rpc_1_0("CreateTaskPushNotificationConfig", **over)
    assert answer["error"]["code"] == -32602
    assert client.rpc_1_0("GetTaskPushNotificationConfig", id="c3", **where)["result"]["id"] == "c3"
    client.rpc_1_0("DeleteTaskPushNotificationConfig", id="c3", **where)
    listed = client.rpc_1_0("ListTaskPushNotificationConfigs", **where)["result"]["configs"]
    assert [each["id"] for each in listed] == [f"c{n}" for n in range(10) if n != 3]
    client.rpc_1_0("CancelTask", id=task["id"])


def test_a_token_that_would_break_a_header_is_refused(client, edge):
    bad = configuration("http://127.0.0.1:9/", token="a\r\nX-Evil: 1")
    answer = client.rpc_1_0("SendMessage", message=edge.message_1_0(), configuration=bad)
    assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("field", ["token", "id", "url"])
def test_a_config_that_is_too_large_is_refused(client, edge, field):
    given = {"url": "http://127.0.0.1:9/", field: "http://127.0.0.1:9/" + "x" * MAX_CONFIG_BYTES}
    bad = {"taskPushNotificationConfig": given}
    answer = client.rpc_1_0("SendMessage", message=edge.message_1_0(), configuration=bad)
    assert (answer["error"]["code"], answer["error"]["message"]) == (
        -32602,
        "a push notification config has at most 16384 bytes",
    )


def test_a_request_that_names_no_version_is_of_0_3():
    named = {"": "0.3", "0.3": "0.3", "0.3.0": "0.3", "1.0": "1.0", "v1.0": "1.0", " 1": "1.0"}
    for header, version in named.items():
        assert version_of(ServerCallContext(state={"headers": {"a2a-version": header}})) == version
