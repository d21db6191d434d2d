"""What the kit's releases for protocol 0.3 ask: the mandatory part, and what the card promises."""

import json

import pytest

TEXT = [{"kind": "text", "text": "hello"}]
DATA = {"kind": "data", "data": {"key": "value", "number": 123, "nested": {"array": [1, 2, 3]}}}
NOWHERE = "http://127.0.0.1:9/"


def code(answer):
    return answer["error"]["code"]


def sent(sut, prefix="test-message-id", configuration=None, **fields):
    message = sut.old_message(prefix, **fields)
    return sut.old("message/send", {"message": message, "configuration": configuration or {}})


def task(sut, prefix="test-message-id", **fields):
    return sent(sut, prefix, **fields)["result"]


def answer(sut, method, params):
    """The answer, or the first event of a stream: a refusal may be either."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    text = sut.http.post("/", json=body).text
    return json.loads(text.partition("\n")[0].removeprefix("data:"))


def streamed(sut, method, params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return [event["result"] for event in sut.events("/", body, version=None)]


# The mandatory part


def test_a_text_leads_to_a_task_that_waits(sut):
    found = task(sut)
    assert (found["kind"], found["status"]["state"]) == ("task", "input-required")


def test_a_task_goes_on_with_its_next_message(sut):
    first = task(sut)
    again = task(sut, "test-continuation-message-id", taskId=first["id"])
    assert (again["id"], again["contextId"]) == (first["id"], first["contextId"])
    assert again["status"]["state"] == "input-required"


def test_a_task_goes_on_in_its_context(sut):
    first = task(sut)
    again = task(sut, taskId=first["id"], contextId=first["contextId"])
    assert again["id"] == first["id"]


def test_the_history_is_no_longer_than_was_asked_for(sut):
    first = task(sut)
    for _ in range(2):
        task(sut, taskId=first["id"])
    whole = sut.old("tasks/get", {"id": first["id"]})["result"]["history"]
    some = sut.old("tasks/get", {"id": first["id"], "historyLength": 2})["result"]["history"]
    assert (len(some), len(whole) > 2) == (2, True)


@pytest.mark.parametrize("length", [0, 1, 2147483647])
def test_every_length_of_a_history_is_taken(sut, length):
    found = sut.old("tasks/get", {"id": task(sut)["id"], "historyLength": length})
    assert "result" in found


def test_a_task_is_read_and_canceled_once(sut):
    found = sut.old("tasks/get", {"id": task(sut)["id"]})["result"]
    canceled = sut.old("tasks/cancel", {"id": found["id"]})["result"]
    assert (canceled["id"], canceled["status"]["state"]) == (found["id"], "canceled")
    assert code(sut.old("tasks/cancel", {"id": found["id"]})) == -32002


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("tasks/get", {"id": "nobody"}, -32001),
        ("tasks/cancel", {"id": "nobody"}, -32001),
        (
            "tasks/pushNotificationConfig/get",
            {"id": "nobody", "pushNotificationConfigId": "c"},
            -32001,
        ),
        (
            "tasks/pushNotificationConfig/set",
            {"taskId": "nobody", "pushNotificationConfig": {"url": NOWHERE}},
            -32001,
        ),
        ("tasks/nonsense", {}, -32601),
    ],
)
def test_errors_have_their_codes(sut, method, params, expected):
    assert code(sut.old(method, params)) == expected


def test_a_task_that_is_not_there_cannot_be_watched(sut):
    assert code(answer(sut, "tasks/resubscribe", {"id": "nobody"})) == -32001


def test_a_message_to_a_task_that_is_not_there_is_refused(sut):
    assert code(sent(sut, taskId="nobody")) == -32001


def invalid_messages():
    whole = {"messageId": "m", "role": "user", "parts": TEXT}
    for missing in whole:
        yield {"message": {key: value for key, value in whole.items() if key != missing}}
    yield {"message": {**whole, "parts": []}}
    yield {"message": {**whole, "parts": "invalid"}}
    yield {"message": {"kind": "message"}}
    yield {"message": "text"}
    yield {"invalid": "params"}
    yield {}


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
@pytest.mark.parametrize("params", list(invalid_messages()))
def test_a_message_that_lacks_something_is_refused_as_the_specification_says(suts, method, params):
    # a2a-sdk's own edge answers -32600, and takes a message without parts.
    assert code(answer(suts["ours"], method, params)) == -32602


# What the card promises


@pytest.mark.parametrize("parts", [[DATA], [*TEXT, DATA]])
def test_data_is_taken(sut, parts):
    assert task(sut, parts=parts)["history"][0]["parts"] == parts


def test_events_of_a_stream_are_of_their_kinds(sut):
    events = streamed(sut, "message/stream", {"message": sut.old_message("tck-stream-001")})
    assert [event["kind"] for event in events] == [
        "task",
        "status-update",
        "artifact-update",
        "status-update",
    ]
    assert events[-1]["final"] is True
    assert {event.get("taskId", event.get("id")) for event in events} == {events[0]["id"]}


def test_a_stream_ends_where_the_task_waits(sut):
    events = streamed(sut, "message/stream", {"message": sut.old_message("stream-message-id")})
    assert events[-1]["status"]["state"] == "input-required"


def test_who_does_not_wait_can_watch_the_task(sut):
    found = task(sut, "test-resubscribe-message-id", configuration={"blocking": False})
    assert found["status"]["state"] in ("submitted", "working")
    events = streamed(sut, "tasks/resubscribe", {"id": found["id"]})
    assert events[-1]["status"]["state"] == "completed"


def test_push_configurations_are_kept(sut):
    found = task(sut)
    prefix = "tasks/pushNotificationConfig"
    config = {"id": "push-1", "url": NOWHERE}
    params = {"taskId": found["id"], "pushNotificationConfig": config}
    made = sut.old(f"{prefix}/set", params)["result"]
    assert made["pushNotificationConfig"]["url"] == NOWHERE
    one = {"id": found["id"], "pushNotificationConfigId": "push-1"}
    assert sut.old(f"{prefix}/get", one)["result"]["pushNotificationConfig"]["url"] == NOWHERE
    assert len(sut.old(f"{prefix}/list", {"id": found["id"]})["result"]) == 1
    for _ in range(2):
        assert "error" not in sut.old(f"{prefix}/delete", one)
    assert sut.old(f"{prefix}/list", {"id": found["id"]})["result"] == []


@pytest.mark.parametrize("fields", [{"taskId": None, "contextId": None, "metadata": None}])
def test_fields_that_are_null_are_not_there(sut, fields):
    assert task(sut, **fields)["id"]


def test_http_of_0_3_does_what_json_rpc_of_0_3_does(sut):
    message = {"messageId": "rest-1", "role": "ROLE_USER", "content": [{"text": "hello"}]}
    answer = sut.rest("POST", "/v1/message:send", {"message": message}, version=None)
    assert answer.status_code == 200
    found = answer.json()["task"]
    read = sut.rest("GET", f"/v1/tasks/{found['id']}", version=None).json()
    assert read["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    canceled = sut.rest("POST", f"/v1/tasks/{found['id']}:cancel", version=None).json()
    assert canceled["status"]["state"] == "TASK_STATE_CANCELLED"
    assert sut.rest("GET", "/v1/tasks/nobody", version=None).status_code == 404
