"""Numbers that no double holds, halves of characters, and what the log says of them."""

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


WHOLE = "\\ud83d\\ude00"
"""Both halves of one character."""


@pytest.mark.parametrize("half", ["\\ud800", "\\uDFFF", "a\\uD83D b", "\\ude00\\ud83d"])
@pytest.mark.parametrize("place", ["id", "text", "contextId", "key"])
def test_half_of_a_character_is_refused_in_one_line(client, edge, caplog, half, place):
    def text(method, message, half):
        sent = {**message, "contextId": "the context", "metadata": {"the key": 1}}
        whole = json.dumps(edge.rpc(method, {"message": sent})).replace("Hello", "the text")
        if place == "id":
            return whole.replace('"jsonrpc"', f'"id": "{half}", "jsonrpc"').replace('"id": 1,', "")
        return whole.replace(f"the {place.removesuffix('Id')}", half)

    both = (
        ("SendMessage", edge.message_1_0("Hello"), edge.HEADERS_1_0),
        ("message/send", edge.message_0_3("Hello"), {}),
    )
    for method, message, headers in both:
        caplog.clear()
        answer = client.http.post("/", content=text(method, message, half), headers=headers)
        assert answer.status_code == 200
        assert code_of(answer.json()) == -32700
        assert "half of a character" in answer.json()["error"]["message"]
        [record] = [each for each in caplog.records if each.levelname in ("WARNING", "ERROR")]
        assert record.exc_info is None
        answer = client.http.post("/", content=text(method, message, WHOLE), headers=headers)
        assert "error" not in answer.json()


def test_params_that_are_none_are_told_in_one_line(client, edge, caplog):
    for wrong in ({"message": {"parts": "x"}}, {"message": 3}, []):
        caplog.clear()
        body = edge.rpc("SendMessage", wrong)
        answer = client.http.post("/", json=body, headers=edge.HEADERS_1_0).json()
        assert code_of(answer) == -32602
        told = [each for each in caplog.records if each.levelname in ("WARNING", "ERROR")]
        assert [each.exc_info for each in told] in ([], [None])
