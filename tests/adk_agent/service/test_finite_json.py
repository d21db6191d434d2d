"""Numbers that no double holds."""

import json

import pytest

from tests.adk_agent.service.answers import code_of


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
