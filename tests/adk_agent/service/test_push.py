"""Push notifications: told in order, to allowed addresses, without harm to the task."""

import threading

import pytest
from a2a.compat.v0_3.types import Task as Task03
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from adk_agent.service.receivers import MAX_CONFIG_BYTES
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.testing import RequestLog, closed_port, serve


class Hook:
    """A receiver that answers with the statuses given, the last one for ever."""

    def __init__(self, *statuses):
        self.statuses = list(statuses) or [200]
        self.told = threading.Semaphore(0)
        self.log = RequestLog(Starlette(routes=[Route("/hook", self.answer, methods=["POST"])]))

    async def answer(self, request):
        await request.body()
        self.told.release()
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        return Response(status_code=status, headers={"Location": "/elsewhere"})

    def wait_for(self, count):
        for _ in range(count):
            assert self.told.acquire(timeout=20)

    def until(self, is_it):
        """What was told, up to the first body of which this is so."""
        bodies = []
        while not bodies or not is_it(bodies[-1]):
            self.wait_for(1)
            bodies.append(self.log.posts[len(bodies)].json())
        return bodies

    @property
    def events(self):
        return [next(iter(request.json().items())) for request in self.log.posts]


def configuration(url, **fields):
    return {"taskPushNotificationConfig": {"url": url, **fields}}


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


@pytest.mark.parametrize("binding", ["json-rpc", "rest", "json-rpc, later"])
def test_a_receiver_set_by_0_3_gets_the_whole_task_in_the_form_of_0_3(client, edge, binding):
    hook = Hook()
    with serve(hook.log) as receiver:
        config = {"url": f"{receiver}/hook", "token": "x"}
        if binding == "json-rpc":
            told = {"pushNotificationConfig": config}
            client.rpc_0_3("message/send", message=edge.message_0_3("report"), configuration=told)
        elif binding == "rest":
            message = {"messageId": "m1", "role": "ROLE_USER", "content": [{"text": "report"}]}
            body = {"request": message, "configuration": {"pushNotification": config}}
            client.http.post("/v1/message:send", json=body)
        else:
            task = client.send("wait", returnImmediately=True)
            told = {"taskId": task["id"], "pushNotificationConfig": config}
            client.rpc_0_3("tasks/pushNotificationConfig/set", **told)
            client.rpc_1_0("CancelTask", id=task["id"])
        hook.until(lambda body: body["status"]["state"] in ("completed", "canceled"))
    for request in hook.log.posts:
        task = Task03.model_validate_json(request.body, extra="forbid")
        assert request.json() == task.model_dump(mode="json", exclude_none=True)
        assert task.kind == "task"
        assert request.headers["x-a2a-notification-token"] == "x"
    if binding != "json-rpc, later":
        assert task.artifacts[0].parts[1].root.data == {"score": 1}
        assert b'{"score":1}' in request.body


def test_receivers_of_one_task_get_each_the_form_that_they_asked_in(client):
    new, old = Hook(), Hook()
    task = client.send("wait", returnImmediately=True)
    with serve(new.log) as new_address, serve(old.log) as old_address:
        config = {"url": f"{old_address}/hook", "id": "o"}
        client.rpc_1_0(
            "CreateTaskPushNotificationConfig", taskId=task["id"], url=f"{new_address}/hook", id="n"
        )
        client.rpc_0_3(
            "tasks/pushNotificationConfig/set", taskId=task["id"], pushNotificationConfig=config
        )
        client.rpc_1_0("CancelTask", id=task["id"])
        told = new.until(lambda body: "CANCELED" in body["statusUpdate"]["status"]["state"])
        whole = old.until(lambda body: body["status"]["state"] == "canceled")[-1]
    assert told[-1]["statusUpdate"]["taskId"] == task["id"]
    assert (whole["id"], whole["contextId"]) == (task["id"], task["contextId"])


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
