"""Requests and answers as they pass, in every dialect and in none."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.a2a.proxy.dialects import Request, read_answer, read_request
from tau_bridge.a2a.replies import ReplyFold

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "message",
                    "task",
                    "parts",
                    "text",
                    "data",
                    "status",
                    "state",
                    "kind",
                    "id",
                    "raw",
                    "file",
                    "artifacts",
                    "artifact",
                    "history",
                    "role",
                    "result",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANYTHING, st.sampled_from(["JSONRPC", "HTTP+JSON"]), st.booleans())
def test_no_answer_is_too_strange_to_be_looked_at(value: Any, binding: Any, wraps: bool) -> None:
    read_answer(value, Request(binding=binding, wraps_data=wraps))
    read_answer({"result": value}, Request(binding=binding, wraps_data=wraps))
    answer = read_answer({"message": {"parts": value}}, Request(binding="HTTP+JSON"))
    if answer.event is not None:
        ReplyFold().add(answer.event)


@given(ANYTHING)
def test_no_request_is_too_strange_to_be_looked_at(value: Any) -> None:
    for body in ({"method": "SendMessage", "params": value}, value, {"request": value}):
        for path in ("/", "/v1/message:send"):
            read_request("POST", path, json.dumps(body).encode())


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"method": 1}', b"null"])
def test_a_body_without_a_method_is_no_message(body: bytes) -> None:
    assert not read_request("POST", "/", body).is_message


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"text": "a"}, "a"),
        ({"kind": "text", "text": "a"}, "a"),
        ({"data": {"n": 1.0}}, '{"n": 1}'),
        ({"kind": "data", "data": {"n": 1}}, '{"n": 1}'),
        ({"data": "plain"}, "plain"),
        ({"raw": "YQ==", "mediaType": "text/plain"}, "a"),
        ({"kind": "file", "file": {"bytes": "YQ==", "mimeType": "text/csv"}}, "a"),
        ({"file": {"fileWithBytes": "YQ==", "mimeType": "application/json"}}, "a"),
        ({"raw": "YQ==", "mediaType": "image/png"}, ""),
        ({"url": "http://x/"}, ""),
        ({"raw": "a", "mediaType": "text/plain"}, None),
        ({"data": float("nan")}, None),
    ],
)
def test_the_text_of_a_message_is_read_as_that_of_a_reply(part: Any, text: str | None) -> None:
    body = {"method": "message/send", "params": {"message": {"role": "user", "parts": [part]}}}
    assert read_request("POST", "/", json.dumps(body).encode()).text == text


def test_data_that_is_nested_beyond_all_measure_is_kept_as_it_was_written() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    body = {"method": "SendMessage", "params": {"message": {"parts": [{"data": deep}]}}}
    assert read_request("POST", "/", json.dumps(body).encode()).text == json.dumps(deep)
