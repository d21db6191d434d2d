"""Errors as the protocol has them, over real HTTP, in both versions and both bindings."""

import pytest

from tests.adk_agent.service.answers import DEEP, code_of


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
