"""Push notifications: told in order, to allowed addresses, without harm to the task."""

import pytest

from tau_bridge.a2a.policy import NetworkPolicy
from tests.adk_agent.service.hooks import Hook, configuration
from tests.fakes import closed_port, serve


def test_every_event_is_told_in_order_with_the_token(client):
    hook = Hook()
    with serve(hook.log) as receiver:
        auth = {"scheme": "Bearer", "credentials": "their-secret"}
        client.send(
            "report", **configuration(f"{receiver}/hook", token="t0k3n", authentication=auth)
        )
        hook.wait_for(4)
    assert [kind for kind, _ in hook.events] == [
        "task",
        "statusUpdate",
        "artifactUpdate",
        "statusUpdate",
    ]
    assert hook.events[-1][1]["status"]["state"] == "TASK_STATE_COMPLETED"
    headers = hook.log.posts[0].headers
    assert headers["x-a2a-notification-token"] == "t0k3n"
    assert headers["authorization"] == "Bearer their-secret"


@pytest.mark.parametrize("status", [302, 404, 500])
def test_a_receiver_that_fails_is_logged_once_and_the_task_is_completed(
    serve_edge, connect, status, caplog
):
    client = connect(serve_edge())
    hook = Hook(status)
    with serve(hook.log) as receiver:
        task = client.send("report", **configuration(f"{receiver}/hook?key=sesame"))
        hook.wait_for(4)
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    logged = [record for record in caplog.records if "a notification to" in record.getMessage()]
    assert len(logged) == 1
    assert f"it answered {status}" in logged[0].getMessage()
    assert "sesame" not in caplog.text


def test_a_dead_receiver_does_no_harm(client):
    with closed_port() as receiver:
        task = client.send("report", **configuration(receiver))
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/hook",
        "http://localhost:9/hook",
        "http://169.254.169.254/latest",
        "http://10.0.0.1/hook",
        "http://[::1]:9/",
        "http://2130706433/",
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "nonsense",
        "",
    ],
)
def test_a_public_service_calls_no_private_address(serve_edge, connect, edge, url):
    client = connect(serve_edge(network=NetworkPolicy.public()))
    answer = client.rpc_1_0(
        "SendMessage", message=edge.message_1_0(), configuration=configuration(url)
    )
    assert answer["error"]["code"] == -32602
    task = client.send("wait", returnImmediately=True)
    answer = client.rpc_1_0("CreateTaskPushNotificationConfig", taskId=task["id"], url=url)
    assert answer["error"]["code"] == -32602
    client.rpc_1_0("CancelTask", id=task["id"])


def test_what_is_configured_may_be_called_by_a_public_service(serve_edge, connect):
    hook = Hook()
    with serve(hook.log) as receiver:
        host = receiver.removeprefix("http://")
        client = connect(serve_edge(network=NetworkPolicy.public(allowed=[host])))
        client.send("x", **configuration(f"{receiver}/hook"))
        hook.wait_for(3)
