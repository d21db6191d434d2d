"""Which extensions an answer names."""

import pytest

from tau_bridge.a2a.extensions import TIMESTAMP_URI, TRACEABILITY_URI


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
