"""Checks of the compatibility kit's list, against the product's edge and against a bare one.

Where a2a-sdk's own edge passes, the product has to pass too.
"""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
V1 = {"A2A-Version": "1.0"}
UNIQUE = itertools.count()
OK = {"TASK_STATE_COMPLETED"}


class Sut:
    """One server; speaks JSON-RPC and HTTP+JSON of 1.0, and JSON-RPC of 0.3."""

    def __init__(self, address):
        self.http = httpx.Client(base_url=address, timeout=30)

    def rpc(self, method, params, headers=V1):
        body = {"jsonrpc": "2.0", "id": "r1", "method": method, "params": params}
        return self.http.post("/", json=body, headers=headers).json()

    def rest(self, verb, path, body=None, headers=V1, **query):
        return self.http.request(verb, path, json=body, headers=headers, params=query or None)

    def send(self, prefix, **fields):
        configuration = fields.pop("configuration", {})
        params = {"message": message(prefix, **fields), "configuration": configuration}
        return self.rpc("SendMessage", params)

    def task(self, prefix, **fields):
        return self.send(prefix, **fields)["result"]["task"]

    def events(self, path, body, headers=V1):
        with self.http.stream("POST", path, json=body, headers=headers) as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            return [
                json.loads(line.removeprefix("data:"))
                for line in response.iter_lines()
                if line.startswith("data:")
            ]

    def stream(self, prefix):
        params = {"message": message(prefix)}
        body = {"jsonrpc": "2.0", "id": "r1", "method": "SendStreamingMessage", "params": params}
        return [event["result"] for event in self.events("/", body)]


def message(prefix, **fields):
    parts = fields.pop("parts", [{"text": "hello"}])
    return {"messageId": f"{prefix}-{next(UNIQUE)}", "role": "ROLE_USER", "parts": parts, **fields}


def old_message(prefix, **fields):
    parts = [{"kind": "text", "text": "hello"}]
    name = f"{prefix}-{next(UNIQUE)}"
    return {"kind": "message", "messageId": name, "role": "user", "parts": parts, **fields}


def started(*flags):
    command = [sys.executable, "-m", "tests.compatibility.server", "--port", "0", *flags]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )


@pytest.fixture(scope="module")
def suts():
    """The product's edge and the bare one."""
    processes = [started(), started("--bare")]
    clients = [Sut(process.stdout.readline().strip()) for process in processes]
    try:
        for client in clients:
            _wait_for(client)
        yield dict(zip(("ours", "bare"), clients, strict=True))
    finally:
        for client in clients:
            client.http.close()
        for process in processes:
            process.terminate()
        for process in processes:
            process.communicate(timeout=30)


def _wait_for(client):
    for _ in range(100_000):
        try:
            client.http.get("/.well-known/agent-card.json")
        except httpx.ConnectError:
            continue
        return


@pytest.fixture(params=["ours", "bare"])
def sut(suts, request):
    return suts[request.param]


def code(answer):
    return answer["error"]["code"]


def reason(answer):
    return answer["error"]["data"][0]["reason"]


# The card


def test_the_card_is_json_with_all_that_is_required(sut):
    answer = sut.http.get("/.well-known/agent-card.json")
    assert answer.headers["content-type"].startswith("application/json")
    assert answer.headers["etag"]
    card = answer.json()
    for name in ("name", "description", "version", "capabilities", "skills", "supportedInterfaces"):
        assert card[name]
    for skill in card["skills"]:
        assert skill["id"]
        assert skill["name"]
        assert skill["description"]
        assert skill["tags"]


def test_a_card_of_0_3_names_url_transport_and_version(sut):
    card = sut.http.get("/.well-known/agent-card.json").json()
    assert card["url"].startswith("http://127.0.0.1:")
    assert card["preferredTransport"] == "JSONRPC"
    assert card["protocolVersion"].startswith("0.3")


# Sending


@pytest.mark.parametrize("blocking", [{}, {"returnImmediately": False}])
def test_a_message_leads_to_a_completed_task(sut, blocking):
    task = sut.task("tck-complete-task", configuration=blocking)
    assert task["status"]["state"] in OK
    assert task["id"]
    assert task["contextId"]


def test_a_message_can_lead_to_a_message(sut):
    answer = sut.send("tck-message-response")["result"]
    assert answer["message"]["parts"] == [{"text": "Direct message response"}]
    assert answer["message"]["role"] == "ROLE_AGENT"


@pytest.mark.parametrize(
    ("prefix", "key"),
    [
        ("tck-artifact-text", "text"),
        ("tck-artifact-file", "raw"),
        ("tck-artifact-file-url", "url"),
        ("tck-artifact-data", "data"),
    ],
)
def test_artifacts_have_the_part_that_was_made(sut, prefix, key):
    (artifact,) = sut.task(prefix)["artifacts"]
    (part,) = artifact["parts"]
    assert artifact["artifactId"]
    assert key in part


def test_the_data_of_an_artifact_is_as_it_was(sut):
    (artifact,) = sut.task("tck-artifact-data")["artifacts"]
    assert artifact["parts"][0]["data"] == {"key": "value", "count": 42}


def test_an_error_of_the_executor_is_an_error(sut):
    assert "error" in sut.send("tck-reject-task")


def test_the_context_of_the_caller_is_kept(sut):
    assert sut.task("tck-complete-task", contextId="mine-1")["contextId"] == "mine-1"


def test_contexts_are_made_and_are_different(sut):
    first, second = sut.task("tck-complete-task"), sut.task("tck-complete-task")
    assert first["contextId"] != second["contextId"]
    assert first["id"] != second["id"]


def test_a_task_that_wants_input_goes_on_with_the_next_message(sut):
    task = sut.task("tck-input-required")
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    again = sut.task("tck-complete-task", taskId=task["id"], contextId=task["contextId"])
    assert (again["id"], again["contextId"]) == (task["id"], task["contextId"])
    assert again["status"]["state"] in OK


def test_the_context_is_found_by_the_task(sut):
    task = sut.task("tck-input-required")
    again = sut.task("tck-complete-task", taskId=task["id"])
    assert again["contextId"] == task["contextId"]


def test_a_task_in_another_context_is_refused(sut):
    task = sut.task("tck-input-required")
    answer = sut.send("tck-complete-task", taskId=task["id"], contextId="another")
    assert code(answer) == -32602


def test_a_message_to_a_task_that_has_ended_is_refused(sut):
    task = sut.task("tck-complete-task")
    assert code(sut.send("tck-complete-task", taskId=task["id"])) == -32004


def test_who_does_not_wait_gets_the_task_while_it_works(sut):
    task = sut.task("tck-delayed-complete", configuration={"returnImmediately": True})
    assert task["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
    events = sut.events(
        "/",
        {"jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": {"id": task["id"]}},
    )
    assert "task" in events[0]["result"]
    assert events[-1]["result"]["statusUpdate"]["status"]["state"] in OK


# Streams


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("tck-stream-001", ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]),
        ("tck-stream-002", ["task", "statusUpdate"]),
        ("tck-stream-ordering-001", ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]),
        ("tck-message-response", ["message"]),
    ],
)
def test_a_stream_has_its_events_in_order(sut, prefix, expected):
    assert [next(iter(event)) for event in sut.stream(prefix)] == expected
    rest = sut.events("/message:stream", {"message": message(prefix)})
    assert [next(iter(event)) for event in rest] == expected


def test_chunks_of_an_artifact_are_appended(sut):
    events = [
        each["artifactUpdate"]
        for each in sut.stream("tck-stream-artifact-chunked")
        if "artifactUpdate" in each
    ]
    assert [event.get("append", False) for event in events] == [False, True]
    assert events[1]["lastChunk"] is True
    task_id = events[0]["taskId"]
    (artifact,) = sut.rpc("GetTask", {"id": task_id})["result"]["artifacts"]
    assert "".join(part["text"] for part in artifact["parts"]) == "chunk-1 chunk-2"


def test_a_task_that_has_ended_cannot_be_watched(sut):
    task = sut.task("tck-complete-task")
    assert code(sut.rpc("SubscribeToTask", {"id": task["id"]})) == -32004


# Reading, listing, canceling


@pytest.mark.parametrize(("length", "expected"), [(0, 0), (1, 1), (50, None)])
def test_the_history_is_as_long_as_asked_for(sut, length, expected):
    task = sut.task("tck-complete-task")
    found = sut.rpc("GetTask", {"id": task["id"], "historyLength": length})["result"]
    history = found.get("history", [])
    assert len(history) == expected if expected is not None else history


def test_a_negative_history_is_refused(sut):
    task = sut.task("tck-complete-task")
    assert code(sut.rpc("GetTask", {"id": task["id"], "historyLength": -1})) == -32602


def test_tasks_are_listed_by_context_and_state_and_page(sut):
    context = f"list-{next(UNIQUE)}"
    made = {sut.task("tck-artifact-text", contextId=context)["id"] for _ in range(3)}
    every = sut.rpc("ListTasks", {"contextId": context})["result"]
    assert {task["id"] for task in every["tasks"]} == made
    assert every["totalSize"] == 3
    assert all("artifacts" not in task for task in every["tasks"])
    some = sut.rpc("ListTasks", {"contextId": context, "pageSize": 2})["result"]
    rest = sut.rpc(
        "ListTasks", {"contextId": context, "pageSize": 2, "pageToken": some["nextPageToken"]}
    )["result"]
    assert {task["id"] for task in (*some["tasks"], *rest["tasks"])} == made
    none = sut.rpc("ListTasks", {"contextId": context, "status": "TASK_STATE_FAILED"})["result"]
    assert none["tasks"] == []
    full = sut.rpc("ListTasks", {"contextId": context, "includeArtifacts": True})["result"]
    assert all(task["artifacts"] for task in full["tasks"])


@pytest.mark.parametrize("params", [{"pageSize": 0}, {"pageSize": 101}, {"pageToken": "?"}])
def test_pages_that_cannot_be_are_refused(sut, params):
    assert code(sut.rpc("ListTasks", params)) == -32602


def test_a_waiting_task_is_canceled_once(sut):
    task = sut.task("tck-input-required")
    canceled = sut.rpc("CancelTask", {"id": task["id"]})["result"]
    assert canceled["status"]["state"] == "TASK_STATE_CANCELED"
    assert code(sut.rpc("CancelTask", {"id": task["id"]})) == -32002


# Errors


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("GetTask", {"id": "nobody"}, -32001),
        ("CancelTask", {"id": "nobody"}, -32001),
        ("SubscribeToTask", {"id": "nobody"}, -32001),
        ("Nonsense", {}, -32601),
        ("SendMessage", {}, -32602),
        ("GetTask", {}, -32602),
        ("GetExtendedAgentCard", {}, -32004),
    ],
)
def test_errors_have_their_codes(sut, method, params, expected):
    answer = sut.rpc(method, params)
    assert (answer["jsonrpc"], answer["id"], code(answer)) == ("2.0", "r1", expected)


def test_what_is_no_request_has_its_codes(sut):
    assert code(sut.http.post("/", content=b"{", headers=V1).json()) == -32700
    assert code(sut.http.post("/", json={"jsonrpc": "2.0", "id": 1}, headers=V1).json()) == -32600
    assert code(sut.http.post("/", json=[], headers=V1).json()) == -32600


def test_the_details_of_an_error_name_its_reason(sut):
    answer = sut.rpc("GetTask", {"id": "nobody"})
    assert reason(answer) == "TASK_NOT_FOUND"
    assert answer["error"]["data"][0]["domain"] == "a2a-protocol.org"


def test_a_version_that_is_not_spoken_is_refused(sut):
    answer = sut.rpc("GetTask", {"id": "x"}, headers={"A2A-Version": "99.0"})
    assert code(answer) == -32009
    rest = sut.rest("GET", "/tasks/x", headers={"A2A-Version": "99.0"})
    assert rest.status_code == 400


@pytest.mark.parametrize(
    ("verb", "path", "body", "status"),
    [
        ("GET", "/tasks/nobody", None, 404),
        ("POST", "/tasks/nobody:cancel", None, 404),
        ("POST", "/message:send", {}, 400),
        ("GET", "/tasks?pageSize=0", None, 400),
        ("GET", "/extendedAgentCard", None, 400),
    ],
)
def test_errors_of_http_have_their_status(sut, verb, path, body, status):
    answer = sut.rest(verb, path, body)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == status


def test_http_does_what_json_rpc_does(sut):
    task = sut.rest("POST", "/message:send", {"message": message("tck-artifact-text")})
    assert task.headers["content-type"].startswith("application/a2a+json")
    task = task.json()["task"]
    assert task["status"]["state"] in OK
    assert sut.rest("GET", f"/tasks/{task['id']}").json()["id"] == task["id"]
    context = sut.rest("GET", "/tasks", contextId=task["contextId"]).json()
    assert [each["id"] for each in context["tasks"]] == [task["id"]]
    assert sut.rest("POST", f"/tasks/{task['id']}:cancel").status_code == 400
    waiting = sut.rest("POST", "/message:send", {"message": message("tck-input-required")}).json()
    canceled = sut.rest("POST", f"/tasks/{waiting['task']['id']}:cancel").json()
    assert canceled["status"]["state"] == "TASK_STATE_CANCELED"


# Push notifications


def test_push_configs_are_kept(sut):
    task = sut.task("tck-input-required")
    where = {"taskId": task["id"]}
    made = sut.rpc(
        "CreateTaskPushNotificationConfig", {**where, "id": "c", "url": "http://127.0.0.1:9/"}
    )["result"]
    assert (made["id"], made["url"]) == ("c", "http://127.0.0.1:9/")
    assert sut.rpc("GetTaskPushNotificationConfig", {**where, "id": "c"})["result"]["id"] == "c"
    listed = sut.rpc("ListTaskPushNotificationConfigs", where)["result"]["configs"]
    assert len(listed) == 1
    assert "error" not in sut.rpc("DeleteTaskPushNotificationConfig", {**where, "id": "c"})
    assert "error" in sut.rpc("GetTaskPushNotificationConfig", {**where, "id": "c"})
    assert "error" not in sut.rpc("DeleteTaskPushNotificationConfig", {**where, "id": "c"})


# Protocol 0.3


def old(sut, method, params):
    return sut.rpc(method, params, headers={})


def test_0_3_sends_reads_and_cancels(sut):
    task = old(sut, "message/send", {"message": old_message("tck-complete-task")})["result"]
    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    found = old(sut, "tasks/get", {"id": task["id"], "historyLength": 1})["result"]
    assert len(found["history"]) == 1
    assert code(old(sut, "tasks/cancel", {"id": task["id"]})) == -32002
    waiting = old(sut, "message/send", {"message": old_message("tck-input-required")})["result"]
    assert waiting["status"]["state"] == "input-required"
    canceled = old(sut, "tasks/cancel", {"id": waiting["id"]})["result"]
    assert canceled["status"]["state"] == "canceled"


def test_0_3_streams(sut):
    params = {"message": old_message("tck-stream-001")}
    body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream", "params": params}
    events = [event["result"] for event in sut.events("/", body, headers={})]
    assert [event["kind"] for event in events] == [
        "task",
        "status-update",
        "artifact-update",
        "status-update",
    ]
    assert events[-1]["final"] is True


@pytest.mark.parametrize(
    ("method", "params", "expected"),
    [
        ("tasks/get", {"id": "nobody"}, -32001),
        ("tasks/cancel", {"id": "nobody"}, -32001),
        ("message/send", {"message": {**old_message("x"), "taskId": "nobody"}}, -32001),
        ("tasks/nonsense", {}, -32601),
    ],
)
def test_errors_of_0_3_have_their_codes(sut, method, params, expected):
    assert code(old(sut, method, params)) == expected


@pytest.mark.parametrize("params", [{}, {"message": {"role": "user"}}, {"message": "text"}])
def test_params_of_0_3_are_checked_with_the_code_that_the_protocol_has(suts, params):
    # a2a-sdk answers -32600 here; the specification wants -32602.
    assert code(old(suts["ours"], "message/send", params)) == -32602
