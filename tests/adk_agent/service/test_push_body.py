"""What a notification says, in the form that its receiver asked in."""

import pytest
from a2a.compat.v0_3.types import Task as Task03

from tests.adk_agent.service.hooks import Hook
from tests.fakes import serve


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
