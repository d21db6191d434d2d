"""The same work through every binding and version."""

from datetime import datetime

import pytest

from tau_bridge.a2a.extensions import (
    TIMESTAMP_KEYS,
    TIMESTAMP_SAMPLE_URI,
    TIMESTAMP_URI,
    TRACEABILITY_URI,
)

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


@pytest.mark.parametrize(
    ("sent_names", "expected"),
    [
        (["A2A-Extensions"], {"a2a-extensions"}),
        (["X-A2A-Extensions"], {"x-a2a-extensions"}),
        (["A2A-Extensions", "X-A2A-Extensions"], {"a2a-extensions", "x-a2a-extensions"}),
        ([], set()),
    ],
)
def test_activated_extensions_are_named_as_they_were_asked_for(
    serve_edge, connect, edge, sent_names, expected
):
    client = connect(serve_edge(activated=frozenset({TIMESTAMP_URI})))
    asked = f"{TIMESTAMP_URI}, {TRACEABILITY_URI}, https://nobody.example/x"
    headers = {**edge.HEADERS_1_0, **dict.fromkeys(sent_names, asked)}
    body = edge.rpc("SendMessage", {"message": edge.message_1_0()})
    answer = client.http.post("/", json=body, headers=headers)
    named = {name: value for name, value in answer.headers.items() if "extensions" in name}
    assert named == dict.fromkeys(expected, TIMESTAMP_URI)


@pytest.mark.parametrize("header", ["A2A-Extensions", "X-A2A-Extensions"])
@pytest.mark.parametrize("uri", [TIMESTAMP_URI, TIMESTAMP_SAMPLE_URI])
def test_messages_and_artifacts_carry_the_time_where_a_client_asks_for_it(
    client, edge, header, uri
):
    headers = {**edge.HEADERS_1_0, header: uri}
    body = edge.rpc("SendMessage", {"message": edge.message_1_0("report")})
    answer = client.http.post("/", json=body, headers=headers)
    assert answer.headers[header] == uri
    task = answer.json()["result"]["task"]
    for holder in (task["status"]["message"], *task["artifacts"]):
        assert holder["extensions"] == [uri]
        (time,) = holder["metadata"].values()
        assert list(holder["metadata"]) == [f"{uri.removeprefix('https://')}/timestamp"]
        assert datetime.fromisoformat(time).tzinfo is not None
    assert client.get(task["id"])["result"]["artifacts"] == task["artifacts"]


def test_a_client_of_0_3_gets_the_time_by_its_header_too(client, edge):
    body = edge.rpc("message/send", {"message": edge.message_0_3("report")})
    answer = client.http.post("/", json=body, headers={"X-A2A-Extensions": TIMESTAMP_URI})
    (artifact,) = answer.json()["result"]["artifacts"]
    assert list(artifact["metadata"]) == [TIMESTAMP_KEYS[TIMESTAMP_URI]]


def test_without_being_asked_messages_and_artifacts_carry_nothing_more(client, edge):
    task = client.send("report")
    assert all("metadata" not in each for each in (task["status"]["message"], *task["artifacts"]))
