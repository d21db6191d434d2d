"""The codes of JSON-RPC for requests that cannot be read."""

import pytest

from tests.adk_agent.service.answers import DEEP, code_of


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
