"""What passes through the proxy, in which form, and what does not."""

import asyncio
import gzip
import json
import logging
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from evals.trace import Provenance
from tau_bridge.a2a.proxy import ObservingProxy, ProxyLimits
from tau_bridge.errors import AgentError
from tau_bridge.recorder import TraceRecorder
from tests.fakes import (
    RequestLog,
    closed_port,
    drops_connection,
    drops_kept_connections,
    fails,
    gzip_bomb,
    http_500,
    huge,
    jsonrpc_error,
    keeps_stream_open,
    raw_agent,
    rejects,
    says,
    scripted_agent,
    sse,
    task_event,
)
from tests.tau_bridge.a2a.conftest import Serving
from tests.tau_bridge.a2a.proxy.calls import NOWHERE, ask, echo, holds, only_step, post, rpc


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("reply_transport", ["artifact_data", "message"])
async def test_a_call_of_any_protocol_passes_and_is_one_step(
    serving: Serving,
    recorder: TraceRecorder,
    reply_transport: Any,
    binding: Any,
    protocol: Any,
    streaming: bool,
) -> None:
    url = serving(
        scripted_agent(
            lambda _text, _context: {"n": 3},
            reply_transport=reply_transport,
            protocols=(protocol,),
            bindings=(binding,),
            streaming=streaming,
        )
    )
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            reply = await ask(proxy.url_for("A", "B"), "hello")
    assert reply.data == ({"n": 3},)
    step = only_step(recorder)
    assert (step.caller, step.callee, step.provenance) == ("A", "B", Provenance.OBSERVED)
    assert (step.request_text, step.response_text, step.error) == ("hello", '{"n": 3}', None)
    noted = step.additional_attributes
    assert (noted["agent_url"], noted["hop"]) == (url, "1")
    assert noted["context_id"] == reply.context_id
    assert (noted.get("task_id"), noted.get("state")) == (reply.task_id, reply.state)


async def test_events_pass_one_by_one(serving: Serving, recorder: TraceRecorder) -> None:
    go_on = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def answer(_: Request) -> Response:
        mine = asyncio.Event()
        waiting.append((asyncio.get_running_loop(), mine))

        async def chunks() -> Any:
            yield sse(task_event("TASK_STATE_WORKING"))
            await mine.wait()
            yield sse(task_event("TASK_STATE_COMPLETED"))

        return StreamingResponse(chunks(), media_type="text/event-stream")

    waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []
    url = serving(raw_agent(answer))
    seen = []
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            async with (
                httpx.AsyncClient(trust_env=False) as client,
                client.stream("POST", proxy.url_for("A", "B"), json=rpc()) as response,
            ):
                async for line in response.aiter_lines():
                    seen += re.findall("TASK_STATE_[A-Z]+", line)
                    if seen == ["TASK_STATE_WORKING"] and not go_on.is_set():
                        # The agent sends no more before it is told that this was seen.
                        go_on.set()
                        agents_loop, event = waiting[0]
                        agents_loop.call_soon_threadsafe(event.set)
                        assert agents_loop is not loop
    assert seen == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
    assert only_step(recorder).additional_attributes["state"] == "completed"


async def test_a_stream_that_stays_open_after_its_task_has_its_step_at_once(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(keeps_stream_open("done"))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            assert (await ask(proxy.url_for("A", "B"), "hi")).text == "done"
            assert only_step(recorder).response_text == "done"
    assert only_step(recorder).error is None


# --- Addresses that lead nowhere ------------------------------------------------------------------


async def test_unknown_tokens_and_callees_are_not_found_and_told_nothing(
    serving: Serving, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    async with ObservingProxy({"A": NOWHERE, "B": serving(log)}) as proxy:
        ours = proxy.url_for("A", "B")
        root, token = re.fullmatch(r"(.*)/p/(.*)/B/", ours).groups()  # type: ignore[union-attr]
        wrong = [
            f"{root}/p/{'x' * len(token)}/B/",
            f"{root}/p/{token}/Z/",
            f"{root}/p/{token}/",
            f"{root}/p//B/",
            f"{root}/q/{token}/B/",
            f"{root}/",
        ]
        with proxy.recording(recorder) as problems:
            answers = [await post(url) for url in wrong]
    told = "no member is called 'Z': there are A, B"
    assert {one.status_code for one in answers} == {404}
    assert [one.text for one in answers] == ["not found", told, *["not found"] * 4]
    assert problems == [f"a call of A reached nobody: {told}"]
    assert log.requests == []
    assert recorder.trace().steps == ()


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../../x",
        "%2e%2e/x",
        "%252e%252e/x",
        "..%2fx",
        "a%2fb",
        "a%5c..%5cx",
        "..;/x",
        "a//b",
        "./x",
        "%00",
    ],
)
async def test_no_path_leads_out_of_the_peers_base(serving: Serving, path: str) -> None:
    log = RequestLog(scripted_agent(echo))
    async with ObservingProxy({"A": NOWHERE, "B": f"{serving(log)}/base"}) as proxy:
        ours = httpx.URL(proxy.url_for("A", "B"))
        reader, writer = await asyncio.open_connection(ours.host, ours.port)
        head = f"GET {ours.path}{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        writer.write(head.encode())
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 404 ")
    assert log.requests == []


# --- Limits -------------------------------------------------------------------------------------


async def test_requests_that_cannot_be_watched_are_refused(
    serving: Serving, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    limits = ProxyLimits(max_request_bytes=1000)
    async with ObservingProxy({"A": NOWHERE, "B": serving(log)}, limits=limits) as proxy:

        async def pieces() -> Any:
            for _ in range(20):
                yield b"x" * 100

        ours = proxy.url_for("A", "B")
        packed = gzip.compress(json.dumps(rpc()).encode())
        with proxy.recording(recorder):
            announced = await post(ours, content=b"x" * 2000)
            unannounced = await post(ours, content=pieces())
            compressed = await post(ours, content=packed, headers={"content-encoding": "gzip"})
            batch = await post(ours, json=[rpc()])
            upgrade = await post(ours, headers={"upgrade": "websocket"})
    statuses = [announced.status_code, unannounced.status_code, compressed.status_code]
    assert statuses == [413, 413, 415]
    assert batch.json()["error"]["code"] == -32600
    assert upgrade.status_code == 501
    assert log.requests == []


# --- Callees that do not answer as they should ----------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (http_500, "AgentProtocolError: boom .* answered HTTP 500"),
        (
            lambda: jsonrpc_error(-32603, "mine"),
            "AgentProtocolError: .*JSON-RPC error -32603: mine",
        ),
        (drops_connection, "AgentUnreachableError: "),
        (lambda: huge(3), "AgentReplyTooLargeError: "),
        (lambda: gzip_bomb(3), "AgentProtocolError: .*compressed as 'gzip'"),
        (lambda: says(b"{", media_type="application/json"), "AgentProtocolError: .*is not JSON"),
        (lambda: says(b"{}", media_type="application/json"), "neither a message nor a task"),
        (lambda: says(b"data: {\n\n"), "AgentProtocolError: .*is not JSON"),
        (lambda: fails("broken"), "AgentFailedError: .*broken"),
        (lambda: rejects("no"), "AgentRejectedError: .*no"),
    ],
)
async def test_trouble_reaches_the_caller_and_the_trace(
    serving: Serving,
    recorder: TraceRecorder,
    caplog: pytest.LogCaptureFixture,
    make: Callable[[], ASGIApp],
    error: str,
) -> None:
    url = serving(make())
    caplog.set_level(logging.DEBUG)
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        ours = proxy.url_for("A", "B")
        token = ours.split("/")[4]
        with proxy.recording(recorder), pytest.raises(AgentError):
            await ask(ours, "hi")
    steps = recorder.trace().steps  # several where the caller tries again
    assert all(re.search(error, step.error or "") for step in steps)
    assert {step.response_text for step in steps} == {None}
    assert token not in recorder.trace().to_json()
    # The client, which is the caller's, logs in this process too.
    by_proxy = [one for one in caplog.records if one.name.startswith(("tau_bridge", "uvicorn"))]
    assert not any(token in one.getMessage() for one in by_proxy)
    assert not any(one.levelno >= logging.WARNING for one in by_proxy)


async def test_a_message_that_a_peer_dropped_is_not_delivered_again(
    recorder: TraceRecorder,
) -> None:
    with drops_kept_connections() as agent:
        async with ObservingProxy({"A": NOWHERE, "B": agent.url}) as proxy:
            with proxy.recording(recorder):
                answers = [await post(proxy.url_for("A", "B")) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 502, 200]
    assert len(agent.message_ids) == 3
    errors = [(step.error or "")[:21] for step in recorder.trace().steps]
    assert errors == ["", "AgentUnreachableError", ""]


async def test_a_peer_that_is_not_there_is_a_bad_gateway_that_does_not_name_its_address(
    recorder: TraceRecorder,
) -> None:
    with closed_port() as url:
        async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
            with proxy.recording(recorder):
                answer = await post(proxy.url_for("A", "B"))
    assert answer.status_code == 502
    assert answer.json()["id"] == "7"
    assert answer.json()["error"]["message"].startswith("'B' cannot be reached")
    assert url not in answer.text
    assert (only_step(recorder).error or "").startswith("AgentUnreachableError: ")


async def test_a_caller_that_hangs_up_ends_the_call_to_the_peer(
    serving: Serving, recorder: TraceRecorder
) -> None:
    arrived, given_up = asyncio.Event(), asyncio.Event()
    url = serving(holds(arrived, given_up))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            call = asyncio.create_task(post(proxy.url_for("A", "B")))
            await arrived.wait()
            call.cancel()
            await given_up.wait()
    assert only_step(recorder).error == "the caller hung up"


# --- What passes, and what does not ---------------------------------------------------------------


async def test_credentials_pass_and_are_not_recorded_while_the_hop_keeps_its_own_headers(
    serving: Serving, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    url = serving(log)
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        ours = proxy.url_for("A", "B")
        with proxy.recording(recorder):
            headers = {
                "Authorization": "Bearer secret-of-a",
                "Referer": ours,
                "Connection": "keep-alive, X-Mine",
                "X-Mine": "1",
                "X-Other": "2",
                "Accept-Encoding": "gzip",
            }
            await post(f"{ours}?a=%20b", headers=headers)
    (seen,) = log.posts
    assert seen.headers["authorization"] == "Bearer secret-of-a"
    assert seen.headers["host"] == url.removeprefix("http://")
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.headers["x-other"] == "2"
    assert not {"referer", "x-mine"} & set(seen.headers)
    assert "secret-of-a" not in recorder.trace().to_json()


async def test_redirects_and_cookies_keep_to_the_address_of_the_callee(serving: Serving) -> None:
    async def away(request: Request) -> Response:
        response = RedirectResponse(request.query_params["to"])
        response.set_cookie("a", "b", path="/", domain="127.0.0.1")
        return response

    url = serving(Starlette(routes=[Route("/x", away)]))
    async with (
        ObservingProxy({"A": NOWHERE, "B": url}) as proxy,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        ours = proxy.url_for("A", "B")
        targets = (f"{url}/y?z=1", "y", "http://elsewhere.example/y")
        answers = [await client.get(f"{ours}x", params={"to": to}) for to in targets]
    assert [one.headers["location"] for one in answers] == [
        f"{ours}y?z=1",
        f"{ours}y",
        "http://elsewhere.example/y",
    ]
    assert answers[0].headers["set-cookie"] == "a=b; SameSite=lax"


async def test_heads_pass_without_a_body(serving: Serving) -> None:
    async def answer(_: Request) -> Response:
        return Response("hello")

    url = serving(Starlette(routes=[Route("/x", answer)]))
    async with (
        ObservingProxy({"A": NOWHERE, "B": url}) as proxy,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        answers = [await client.head(f"{proxy.url_for('A', 'B')}x") for _ in range(2)]
    assert [(one.text, one.headers["content-length"]) for one in answers] == [("", "5")] * 2


async def test_an_address_in_a_text_becomes_a_name(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        theirs = proxy.url_for("B", "A")
        text = f"I am at {theirs} or {theirs[:-1]}, token {theirs.split('/')[4]}"
        with proxy.recording(recorder):
            await ask(proxy.url_for("A", "B"), text)
    assert only_step(recorder).request_text == "I am at peer:A or peer:A, token [redacted]"
    assert only_step(recorder).request_text == proxy.redact(text)
