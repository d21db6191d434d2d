"""Messages that tell their receiver of its peers."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tau_bridge.a2a.peers import PEERS_KEY
from tau_bridge.a2a.proxy import ObservingProxy
from tau_bridge.a2a.proxy.introducing import with_peers
from tau_bridge.recorder import TraceRecorder
from tests.fakes import raw_agent, scripted_agent
from tests.tau_bridge.a2a.conftest import Serving
from tests.tau_bridge.a2a.proxy.calls import NOWHERE, ask, message, only_step, post, rpc

PEERS = {"b": "http://127.0.0.1:1/p/token/b/"}
LINES = (
    "\n\nYou can ask the other agents of your team over A2A:\n- b: http://127.0.0.1:1/p/token/b/"
)
TEXT = {"text": "hi"}
OLD_TEXT = {"kind": "text", "text": "hi"}


def told(content: Any) -> Any:
    return json.loads(with_peers(json.dumps(content).encode(), PEERS))


@pytest.mark.parametrize(
    ("content", "where", "parts"),
    [
        (rpc(params={"message": {"parts": [TEXT]}}), ("params", "message"), "parts"),
        (rpc("message/send", {"message": {"parts": [OLD_TEXT]}}), ("params", "message"), "parts"),
        ({"message": {"parts": [TEXT]}}, ("message",), "parts"),
        ({"request": {"content": [TEXT]}}, ("request",), "content"),
    ],
    ids=["JSON-RPC 1.0", "JSON-RPC 0.3", "HTTP+JSON 1.0", "HTTP+JSON 0.3"],
)
def test_peers_stand_in_metadata_and_below_the_text_in_each_dialect(
    content: Any, where: tuple[str, ...], parts: str
) -> None:
    found = told(content)
    for key in where:
        found = found[key]
    assert found["metadata"] == {PEERS_KEY: PEERS}
    [part] = found[parts]
    assert part["text"] == f"hi{LINES}"


def test_other_metadata_stay_and_the_peers_of_another_agent_are_replaced() -> None:
    sent = {"metadata": {"mine": 1, PEERS_KEY: {"a": "http://a"}}, "parts": [TEXT, {"data": 1}]}
    found = told({"message": sent})["message"]
    assert found["metadata"] == {"mine": 1, PEERS_KEY: PEERS}
    assert found["parts"] == [{"text": f"hi{LINES}"}, {"data": 1}]


def test_a_message_that_goes_on_with_a_task_has_the_metadata_alone() -> None:
    found = told({"message": {"taskId": "t", "parts": [TEXT]}})["message"]
    assert (found["metadata"], found["parts"]) == ({PEERS_KEY: PEERS}, [TEXT])


@pytest.mark.parametrize(
    "body", [b"", b"no JSON", b"[]", b'{"params": 1}', b'{"message": {"parts": [{"data": 1e999}]}}']
)
def test_what_holds_no_message_or_cannot_be_written_again_passes_as_it_is(body: bytes) -> None:
    assert with_peers(body, PEERS) == body


@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_an_agent_of_any_protocol_reads_its_peers_and_the_step_holds_what_was_asked(
    serving: Serving, recorder: TraceRecorder, protocol: Any, binding: Any
) -> None:
    texts: list[str] = []

    def answer(text: str, _: str) -> str:
        texts.append(text)
        return "yes"

    url = serving(scripted_agent(answer, protocols=(protocol,), bindings=(binding,)))
    peers = {"A": NOWHERE, "B": url, "C": NOWHERE}
    async with ObservingProxy(peers, introduces=True) as proxy:
        addresses = proxy.wiring()["B"]
        with proxy.recording(recorder):
            await ask(proxy.url_for("A", "B"), "hello")
    [text] = texts
    lines = [f"- {name}: {address}" for name, address in sorted(addresses.items())]
    assert text.splitlines() == [
        *("hello", "", "You can ask the other agents of your team over A2A:"),
        *lines,
    ]
    assert only_step(recorder).request_text == "hello"


async def test_addresses_that_an_agent_passes_on_become_those_of_the_receiver(
    serving: Serving, recorder: TraceRecorder
) -> None:
    bodies: list[bytes] = []

    async def answer(request: Request) -> Response:
        bodies.append(await request.body())
        result = {"message": {"messageId": "1", "role": "ROLE_AGENT", "parts": [{"text": "ok"}]}}
        return JSONResponse({"jsonrpc": "2.0", "id": "7", "result": result})

    url = serving(raw_agent(answer, streaming=False))
    async with ObservingProxy({"A": NOWHERE, "B": url, "C": NOWHERE}, introduces=True) as proxy:
        lent, own = proxy.url_for("A", "C"), proxy.url_for("B", "C")
        with proxy.recording(recorder):
            await post(proxy.url_for("A", "B"), json=rpc(params=message(f"ask {lent}")))
    [body] = bodies
    assert lent.encode() not in body
    [part] = json.loads(body)["params"]["message"]["parts"]
    assert part["text"].startswith(f"ask {own}\n")
    assert only_step(recorder).request_text == "ask peer:C"


@pytest.mark.parametrize("streaming", [True, False])
async def test_addresses_in_an_answer_become_those_of_its_reader_however_it_is_cut(
    serving: Serving, recorder: TraceRecorder, streaming: bool
) -> None:
    """The agent quotes an address of its own; as a stream, in pieces of seven bytes."""
    quoted = ""

    async def answer(_: Request) -> Response:
        part = {"text": f"ask {quoted}"}
        said = {"messageId": "1", "role": "ROLE_AGENT", "parts": [part]}
        body = json.dumps({"jsonrpc": "2.0", "id": "7", "result": {"message": said}})
        if not streaming:
            return Response(body, media_type="application/json")
        event = f"data: {body}\n\n"

        async def pieces() -> AsyncIterator[str]:
            for at in range(0, len(event), 7):
                yield event[at : at + 7]

        return StreamingResponse(pieces(), media_type="text/event-stream")

    url = serving(raw_agent(answer))
    async with ObservingProxy({"A": NOWHERE, "B": url, "C": NOWHERE}, introduces=True) as proxy:
        quoted, own = proxy.url_for("B", "C"), proxy.url_for("A", "C")
        with proxy.recording(recorder):
            response = await post(proxy.url_for("A", "B"))
    [line] = [each for each in response.text.splitlines() if each]
    [part] = json.loads(line.removeprefix("data: "))["result"]["message"]["parts"]
    assert part["text"] == f"ask {own}"
    assert only_step(recorder).response_text == "ask peer:C"


async def test_a_proxy_that_does_not_introduce_passes_a_message_byte_by_byte(
    serving: Serving,
) -> None:
    bodies: list[bytes] = []

    async def answer(request: Request) -> Response:
        bodies.append(await request.body())
        return JSONResponse({"jsonrpc": "2.0", "id": "7", "result": {}})

    url = serving(raw_agent(answer, streaming=False))
    sent = json.dumps(rpc(), indent=3).encode()
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        await post(
            proxy.url_for("A", "B"), content=sent, headers={"content-type": "application/json"}
        )
    assert bodies == [sent]
