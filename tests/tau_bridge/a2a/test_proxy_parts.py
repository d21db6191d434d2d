import json
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.a2a.proxy.dialects import Request, read_answer, read_request
from tau_bridge.a2a.proxy.events import EventReader
from tau_bridge.a2a.proxy.routes import Routes
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


def routes() -> Routes:
    tokens = iter(("token-of-a-1234567", "token-of-b-1234567"))
    made = Routes({"A": "http://a:1", "B": "http://b:2/base"}, new_token=lambda: next(tokens))
    made.origin = "http://127.0.0.1:5"
    return made


@given(st.lists(st.sampled_from(["a", ".", "/", "%2e", "%2f", "%25", ";", "\\", "%5c", "2e"])))
def test_whatever_is_asked_for_stays_below_the_peers_path(pieces: list[str]) -> None:
    route = routes().find("/p/token-of-a-1234567/B" + "".join(pieces))
    if route is not None:
        path = unquote(unquote(unquote(route.path)))
        assert path == "/base" or path.startswith("/base/")
        assert not {".", ".."} & {segment.partition(";")[0] for segment in path.split("/")}


@given(st.text(alphabet="abc/.%2", max_size=20))
def test_an_advertised_address_that_is_passed_on_leads_back_to_itself(path: str) -> None:
    known = routes()
    route = known.find("/p/token-of-a-1234567/B/")
    assert route is not None
    try:
        ours = route.proxied(f"http://b:2/base/{path}")
    except ValueError:
        return
    back = known.find(urlsplit(ours).path)
    assert back is not None
    assert back.path == f"/base/{path}"


@given(
    st.lists(st.text(alphabet="ab:é ", max_size=6), max_size=5),
    st.sampled_from(["\n", "\r", "\r\n"]),
    st.lists(st.integers(1, 9), max_size=20),
)
def test_events_are_the_same_wherever_the_stream_was_cut(
    texts: list[str], end: str, cuts: list[int]
) -> None:
    stream = "".join(f": ping{end}{end}id: 1{end}data: {text}{end}{end}" for text in texts).encode()
    reader, seen, at = EventReader(), [], 0
    for cut in [*cuts, len(stream)]:
        seen += list(reader.feed(stream[at : at + cut]))
        at += cut
    assert [data.decode() for data in seen] == texts


def test_the_lines_of_one_event_belong_together() -> None:
    assert list(EventReader().feed(b"data: a\ndata:b\ndata\nevent: x\n\n")) == [b"a\nb\n"]


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
