"""What events carry for clients that activate extensions."""

from datetime import datetime

import pytest

from tau_bridge.a2a.extensions import TIMESTAMP_KEYS, TIMESTAMP_SAMPLE_URI, TIMESTAMP_URI


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
