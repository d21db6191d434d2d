"""Errors that are nobody's but ours."""

import json

import pytest

from tests.adk_agent.service.answers import code_of


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
