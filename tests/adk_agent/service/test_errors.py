"""Errors as the protocol has them, over real HTTP, in both versions and both bindings."""

import json

import pytest

DEEP = "[" * 100_000


def code_of(answer):
    return answer["error"]["code"]


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe{}", DEEP.encode(), b"nonsense"])
def test_what_is_not_json_is_a_parse_error(client, body):
    answer = client.http.post("/", content=body)
    assert answer.status_code == 200
    assert answer.json()["id"] is None
    assert code_of(answer.json()) == -32700


@pytest.mark.parametrize(
    "body",
    [
        [],
        3,
        "text",
        {},
        {"jsonrpc": "1.0", "id": 1, "method": "GetTask"},
        {"id": 1, "method": "GetTask"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": True, "method": "GetTask"},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": "text"},
        [{"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {}}],
    ],
)
def test_json_that_is_no_request_is_an_invalid_request(client, body):
    answer = client.http.post("/", json=body, headers={"A2A-Version": "1.0"}).json()
    assert code_of(answer) == -32600


@pytest.mark.parametrize("method", ["tasks/send", "Nonsense", "sendMessage", "message/Send"])
def test_an_unknown_method_is_named_so(client, method):
    assert code_of(client.rpc_1_0(method)) == -32601


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"message": None},
        {"message": "hello"},
        {"message": {"role": "user", "parts": []}},
        {"message": {"messageId": "m", "role": "nobody", "parts": []}},
        {"message": {"messageId": "m", "role": "user", "parts": [{"kind": "smell"}]}},
        {"message": {"messageId": "m", "role": "user", "parts": "text"}},
        [1, 2],
    ],
)
def test_params_of_0_3_that_do_not_fit_are_invalid_params(client, edge, params):
    answer = client.http.post("/", json=edge.rpc("message/send", params)).json()
    assert code_of(answer) == -32602
    assert answer["id"] == 1


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"message": None},
        {"message": "hello"},
        {"message": {"messageId": "m", "role": "ROLE_USER"}},
        {"message": {"role": "ROLE_USER", "parts": [{"text": "x"}]}},
        {"message": {"messageId": "m", "role": "ROLE_USER", "parts": "text"}},
        [1, 2],
    ],
)
def test_params_of_1_0_that_do_not_fit_are_invalid_params(client, edge, params):
    body = edge.rpc("SendMessage", params)
    answer = client.http.post("/", json=body, headers=edge.HEADERS_1_0).json()
    assert code_of(answer) == -32602


def test_a_message_without_parts_is_invalid_everywhere(client, edge):
    empty_1_0, empty_0_3 = edge.message_1_0(parts=[]), edge.message_0_3(parts=[])
    assert code_of(client.rpc_1_0("SendMessage", message=empty_1_0)) == -32602
    assert code_of(client.rpc_0_3("message/send", message=empty_0_3)) == -32602
    body = {"message": empty_1_0}
    assert client.http.post("/message:send", json=body, headers=edge.HEADERS_1_0).status_code == 400


def test_an_unknown_task_is_not_found(client, edge):
    for method in ("GetTask", "CancelTask", "SubscribeToTask"):
        assert code_of(client.rpc_1_0(method, id="nobody")) == -32001
    for method in ("tasks/get", "tasks/cancel"):
        assert code_of(client.rpc_0_3(method, id="nobody")) == -32001
    assert client.http.get("/tasks/nobody", headers=edge.HEADERS_1_0).status_code == 404
    assert client.http.get("/v1/tasks/nobody").status_code == 404


def test_a_message_to_an_unknown_task_is_not_found(client, edge):
    message = edge.message_1_0(taskId="nobody")
    assert code_of(client.rpc_1_0("SendMessage", message=message)) == -32001
    message = edge.message_0_3(taskId="nobody")
    assert code_of(client.rpc_0_3("message/send", message=message)) == -32001


def test_a_task_that_has_ended_cannot_be_canceled(client, edge):
    task = client.send()
    assert code_of(client.rpc_1_0("CancelTask", id=task["id"])) == -32002
    assert code_of(client.rpc_0_3("tasks/cancel", id=task["id"])) == -32002
    answer = client.http.post(f"/tasks/{task['id']}:cancel", headers=edge.HEADERS_1_0)
    assert answer.status_code == 400


def test_a_version_that_is_not_spoken_is_named_so(client, edge):
    body = edge.rpc("SendMessage", {"message": edge.message_1_0()})
    for version in ("7.0", "0.1"):
        answer = client.http.post("/", json=body, headers={"A2A-Version": version}).json()
        assert code_of(answer) == -32009
    answer = client.http.post(
        "/message:send", json={"message": edge.message_1_0()}, headers={"A2A-Version": "7.0"}
    )
    assert answer.status_code == 400


@pytest.mark.parametrize(
    "part",
    [
        {"raw": "AAECAw==", "mediaType": "image/png"},
        {"url": "http://127.0.0.1:1/a.png", "mediaType": "image/png"},
    ],
)
def test_a_part_of_a_kind_that_the_card_does_not_name_is_refused(client, edge, part):
    message = edge.message_1_0(parts=[part])
    answer = client.rpc_1_0("SendMessage", message=message)
    assert code_of(answer) == -32005
    assert "image/png" in answer["error"]["message"]
    answer = client.http.post("/message:send", json={"message": message}, headers=edge.HEADERS_1_0)
    assert answer.status_code == 415 or answer.status_code == 400


def test_a_file_of_0_3_is_refused(client, edge):
    part = {"kind": "file", "file": {"bytes": "AAECAw==", "mimeType": "image/png"}}
    answer = client.rpc_0_3("message/send", message=edge.message_0_3(parts=[part]))
    assert code_of(answer) == -32005


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", DEEP.encode(), b'{"message": 3}'])
def test_a_rest_body_that_cannot_be_read_is_a_bad_request(client, edge, body):
    answer = client.http.post("/message:send", content=body, headers=edge.HEADERS_1_0)
    assert answer.status_code == 400
    answer = client.http.post("/v1/message:send", content=body)
    assert answer.status_code == 400


def test_unknown_addresses_and_verbs_are_refused_by_http(client):
    assert client.http.get("/nothing/here").status_code == 404
    assert client.http.delete("/").status_code == 405


@pytest.mark.parametrize("text", ["break", "break at once"])
def test_an_unexpected_error_says_nothing_of_itself(serve_edge, connect, edge, text, caplog):
    client = connect(serve_edge())
    sent_1_0 = {"message": edge.message_1_0(text)}
    sent_0_3 = {"message": edge.message_0_3(text)}
    seen = [client.rpc_1_0("SendMessage", **sent_1_0), client.rpc_0_3("message/send", **sent_0_3)]
    assert [code_of(answer) for answer in seen] == [-32603, -32603]
    assert {answer["error"]["message"] for answer in seen} == {
        "the assessor broke; its log says why"
    }
    rest = client.http.post("/message:send", json=sent_1_0, headers=edge.HEADERS_1_0)
    old = client.http.post("/v1/message:send", json={"request": sent_0_3["message"]})
    streams = [
        *client.stream("/", edge.rpc("SendStreamingMessage", sent_1_0)),
        *client.stream("/", edge.rpc("message/stream", sent_0_3), headers={}),
        *client.stream("/message:stream", sent_1_0),
    ]
    listed = client.rpc_1_0("ListTasks", includeArtifacts=True)
    assert len(listed["result"]["tasks"]) >= 5
    assert {task["status"]["state"] for task in listed["result"]["tasks"]} == {"TASK_STATE_FAILED"}
    everything = json.dumps([seen, rest.text, old.text, streams, listed])
    assert rest.status_code == 500
    assert edge.SECRET not in everything
    assert "RuntimeError" not in everything
    assert edge.SECRET in caplog.text  # where the operator finds it


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 400])
def test_a_number_that_no_double_holds_is_refused_and_spoils_no_list(client, edge, number):
    def body(value):
        return json.dumps(value).replace('"the number"', number)

    parts = [{"data": {"a": ["the number"]}}]
    new = {"message": edge.message_1_0(parts=parts)}
    old = {"message": edge.message_0_3(metadata={"a": "the number"})}
    for text, headers in (
        (body(edge.rpc("SendMessage", new)), edge.HEADERS_1_0),
        (body(edge.rpc("message/send", old)), {}),
    ):
        assert code_of(client.http.post("/", content=text, headers=headers).json()) == -32700
    for path in ("/message:send", "/v1/message:send"):
        refused = client.http.post(path, content=body(new), headers=edge.HEADERS_1_0)
        assert refused.status_code == 400
        assert "double" in refused.json()["error"]["message"]
    assert "result" in client.rpc_1_0("ListTasks")
    assert client.http.get("/tasks", headers=edge.HEADERS_1_0).status_code == 200
