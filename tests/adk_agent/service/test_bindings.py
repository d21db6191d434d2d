"""The same work through every binding and version."""

import pytest

JSON_RPC, REST = "json-rpc", "rest"


def sent(client, edge, binding, version, text):
    """The task of a message, as JSON."""
    new, old = {"message": edge.message_1_0(text)}, {"message": edge.message_0_3(text)}
    if (binding, version) == (JSON_RPC, "1.0"):
        return client.rpc_1_0("SendMessage", **new)["result"]["task"]
    if (binding, version) == (JSON_RPC, "0.3"):
        return client.rpc_0_3("message/send", **old)["result"]
    if version == "1.0":
        answer = client.http.post("/message:send", json=new, headers=edge.HEADERS_1_0)
        return answer.json()["task"]
    message = {"messageId": "m1", "role": "ROLE_USER", "content": [{"text": text}]}
    return client.http.post("/v1/message:send", json={"request": message}).json()["task"]


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("binding", [JSON_RPC, REST])
def test_a_message_comes_back_as_a_finished_task(client, edge, binding, version):
    task = sent(client, edge, binding, version, "report")
    by_old_rpc = version == "0.3" and binding == JSON_RPC
    assert task["status"]["state"] == ("completed" if by_old_rpc else "TASK_STATE_COMPLETED")
    (artifact,) = task["artifacts"]
    assert len(artifact["parts"]) == 2


def test_a_stream_shows_task_work_and_end_in_every_way(client, edge):
    new, old = {"message": edge.message_1_0()}, {"message": edge.message_0_3()}
    events = list(client.stream("/", edge.rpc("SendStreamingMessage", new)))
    assert [next(iter(each["result"])) for each in events] == [
        "task",
        "statusUpdate",
        "statusUpdate",
    ]
    events = list(client.stream("/message:stream", new))
    assert [next(iter(each)) for each in events] == ["task", "statusUpdate", "statusUpdate"]
    events = list(client.stream("/", edge.rpc("message/stream", old), headers={}))
    assert [each["result"]["kind"] for each in events] == [
        "task",
        "status-update",
        "status-update",
    ]
    message = {"messageId": "m1", "role": "ROLE_USER", "content": [{"text": "x"}]}
    events = list(client.stream("/v1/message:stream", {"request": message}, headers={}))
    assert len(events) == 3


def test_a_task_of_one_version_is_read_and_listed_by_the_other(client, edge):
    task = client.rpc_0_3("message/send", message=edge.message_0_3())["result"]
    assert client.get(task["id"])["result"]["id"] == task["id"]
    listed = client.http.get("/tasks", headers=edge.HEADERS_1_0).json()
    assert task["id"] in {each["id"] for each in listed["tasks"]}
    assert client.http.get(f"/v1/tasks/{task['id']}").json()["id"] == task["id"]


def test_a_running_task_is_watched_polled_and_canceled(client, edge):
    task = client.send("wait", returnImmediately=True)
    assert task["status"]["state"] != "TASK_STATE_COMPLETED"
    polled = client.get(task["id"])["result"]
    assert polled["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
    canceled = client.rpc_1_0("CancelTask", id=task["id"])["result"]
    assert canceled["status"]["state"] == "TASK_STATE_CANCELED"
    assert client.get(task["id"])["result"]["status"]["state"] == "TASK_STATE_CANCELED"
