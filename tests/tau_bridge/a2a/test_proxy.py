import asyncio
import gzip
import json
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from evals.trace import CallType, InteractionStep, Provenance
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.proxy import ObservingProxy, ProxyLimits
from tau_bridge.a2a.replies import Reply
from tau_bridge.clock import Runtime
from tau_bridge.errors import AgentError
from tau_bridge.recorder import TraceRecorder
from tau_bridge.testing import (
    RequestLog,
    closed_port,
    drops_connection,
    drops_kept_connections,
    ends_early,
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

from .conftest import Serving

NOWHERE = "http://127.0.0.1:9"


def echo(text: str, _: str) -> str:
    return f"you said {text}"


def scratch() -> TraceRecorder:
    return TraceRecorder("scratch", runtime=Runtime.system())


async def ask(url: str, text: str) -> Reply:
    messenger = Messenger(limits=MessengerLimits(retry_wait_s=0.001))
    try:
        return await messenger.conversation(url, recorder=scratch()).send(text)
    finally:
        await messenger.aclose()


def message(text: str = "hi", **more: Any) -> dict[str, Any]:
    parts = [{"text": text}]
    return {"message": {"messageId": "m", "role": "ROLE_USER", "parts": parts}, **more}


def rpc(method: str = "SendMessage", params: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": "7", "method": method, "params": params or message()}


async def post(url: str, **options: Any) -> httpx.Response:
    options = {"json": rpc(), **options} if "content" not in options else options
    headers = {"A2A-Version": "1.0", **options.pop("headers", {})}
    async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
        return await client.post(url, headers=headers, **options)


def only_step(recorder: TraceRecorder) -> InteractionStep:
    (step,) = recorder.trace().steps
    return step


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


# --- Cards --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["agent-card.json", "agent.json"])
async def test_a_card_names_the_proxy_wherever_it_named_the_agent(
    serving: Serving, path: str
) -> None:
    async def card(request: Request) -> Response:
        base = str(request.base_url)
        return JSONResponse(
            {
                "name": "clerk",
                "description": "é",
                "skills": [],
                "url": base,
                "preferredTransport": "GRPC",
                "additionalInterfaces": [
                    {"url": f"{base}grpc", "transport": "GRPC"},
                    {"url": f"{base}rest", "transport": "HTTP+JSON"},
                ],
                "supportedInterfaces": [
                    {"url": f"{base}a?x=1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
                    {"url": "http://elsewhere.example/", "protocolBinding": "JSONRPC"},
                    {"url": base, "protocolBinding": "GRPC"},
                    "nonsense",
                ],
                "signatures": [{"protected": "x", "signature": "y"}],
            },
            headers={"etag": "old"},
        )

    url = serving(Starlette(routes=[Route(f"/.well-known/{path}", card)]))
    async with (
        ObservingProxy({"A": NOWHERE, "B": url}) as proxy,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        ours = proxy.url_for("A", "B")
        response = await client.get(f"{ours}.well-known/{path}")
    assert "etag" not in response.headers
    assert response.json() == {
        "name": "clerk",
        "description": "é",
        "skills": [],
        "url": f"{ours}rest",
        "preferredTransport": "HTTP+JSON",
        "additionalInterfaces": [{"url": f"{ours}rest", "transport": "HTTP+JSON"}],
        "supportedInterfaces": [
            {"url": f"{ours}a?x=1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
    }


async def test_an_extended_card_is_rewritten_too_and_one_without_a_way_through_is_refused(
    serving: Serving,
) -> None:
    interfaces = [{"url": "/rpc", "protocolBinding": "JSONRPC"}]

    async def answer(request: Request) -> Response:
        known = interfaces if (await request.json())["id"] == "7" else []
        return JSONResponse({"id": "7", "result": {"name": "B", "supportedInterfaces": known}})

    url = serving(raw_agent(answer))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        ours = proxy.url_for("A", "B")
        asked = rpc("GetExtendedAgentCard", {"x": 1})
        card = (await post(ours, json=asked)).json()["result"]
        refused = await post(ours, json={**asked, "id": "8"})
    assert card["supportedInterfaces"][0]["url"] == f"{ours}rpc"
    assert refused.status_code == 502
    assert "no interface that the proxy can pass on" in refused.json()["error"]["message"]


async def test_an_agent_below_a_path_keeps_its_callers_below_it(
    serving: Serving, recorder: TraceRecorder
) -> None:
    app = Starlette()
    app.mount("/agents/b", scripted_agent(echo, interface_url="/agents/b/"))
    log = RequestLog(app)
    async with ObservingProxy({"A": NOWHERE, "B": f"{serving(log)}/agents/b"}) as proxy:
        with proxy.recording(recorder):
            assert (await ask(proxy.url_for("A", "B"), "hi")).text == "you said hi"
    assert {request.path for request in log.requests} == {
        "/agents/b/.well-known/agent-card.json",
        "/agents/b/",
    }


# --- Who calls whom -----------------------------------------------------------------------------


def agent_asking(
    wiring: Mapping[str, Mapping[str, str]], name: str, others: tuple[str, ...]
) -> ASGIApp:
    """Asks each of the others in turn, and puts their answers together."""

    async def answer(text: str, _: str) -> str:
        told = [(await ask(wiring[name][other], f"{text}>{other}")).text for other in others]
        return f"{name}({','.join(told)})"

    return scripted_agent(answer)


async def test_calls_inside_calls_have_the_right_parents(
    serving: Serving, recorder: TraceRecorder, messenger: Messenger
) -> None:
    wiring: dict[str, Mapping[str, str]] = {}
    asks = {"A": ("B", "C"), "B": ("C",), "C": ()}
    peers = {name: serving(agent_asking(wiring, name, others)) for name, others in asks.items()}
    async with ObservingProxy(peers) as proxy:
        wiring.update(proxy.wiring())
        with proxy.recording(recorder):
            conversation = messenger.conversation(peers["A"], recorder=recorder, callee="A")
            assert (await conversation.send("go")).text == "A(B(C()),C())"
    steps = {step.step_id: step for step in recorder.trace().steps}
    edges = [
        (
            step.caller,
            step.callee,
            steps[step.parent_step_id].callee if step.parent_step_id else None,
            step.additional_attributes.get("hop"),
        )
        for step in steps.values()
    ]
    assert edges == [
        ("green-agent", "A", None, None),
        ("A", "B", "A", "1"),
        ("B", "C", "B", "2"),
        ("A", "C", "A", "1"),
    ]
    assert not any("parent_guessed" in step.additional_attributes for step in steps.values())


async def test_where_an_agent_answers_two_calls_at_once_the_parent_is_a_guess_and_says_so(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            opened = [
                recorder.begin(call_type=CallType.AGENT, caller="user", callee="A")
                for _ in range(2)
            ]
            await ask(proxy.url_for("A", "B"), "hi")
            for one in opened:
                one.end()
    inner = recorder.trace().steps[-1]
    assert inner.parent_step_id == opened[-1].step_id
    assert inner.additional_attributes["parent_guessed"] == "true"


async def test_a_token_says_who_calls_whatever_the_message_claims(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo))
    async with ObservingProxy({"A": NOWHERE, "B": url, "C": NOWHERE}) as proxy:
        with proxy.recording(recorder):
            claims = rpc(params=message(metadata={"caller": "C", "agent_name": "C"}))
            await post(proxy.url_for("A", "B"), json=claims, headers={"From": "C"})
    assert only_step(recorder).caller == "A"


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
        with proxy.recording(recorder):
            answers = [await post(url) for url in wrong]
    assert {(one.status_code, one.text) for one in answers} == {(404, "not found")}
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


async def test_a_hundred_calls_at_once_are_a_hundred_steps(
    serving: Serving, recorder: TraceRecorder
) -> None:
    async def answer(request: Request) -> Response:
        said = (await request.json())["params"]["message"]
        return JSONResponse({"jsonrpc": "2.0", "id": "7", "result": {"message": said}})

    url = serving(raw_agent(answer))
    async with (
        ObservingProxy({"A": NOWHERE, "B": url}) as proxy,
        httpx.AsyncClient(trust_env=False, timeout=60) as client,
    ):
        ours = proxy.url_for("A", "B")
        with proxy.recording(recorder):
            answers = await asyncio.gather(
                *(client.post(ours, json=rpc(params=message(str(n)))) for n in range(100))
            )
    told = [one.json()["result"]["message"]["parts"][0]["text"] for one in answers]
    assert told == [str(n) for n in range(100)]
    steps = recorder.trace().steps
    assert sorted(int(step.request_text or "") for step in steps) == list(range(100))
    assert all(step.request_text == step.response_text for step in steps)


# --- Limits -------------------------------------------------------------------------------------


async def test_agents_that_call_each_other_for_ever_are_stopped(
    serving: Serving, recorder: TraceRecorder
) -> None:
    wiring: dict[str, Mapping[str, str]] = {}
    peers = {
        "A": serving(agent_asking(wiring, "A", ("B",))),
        "B": serving(agent_asking(wiring, "B", ("A",))),
    }
    async with ObservingProxy(peers, limits=ProxyLimits(max_hops=4)) as proxy:
        wiring.update(proxy.wiring())
        with proxy.recording(recorder), pytest.raises(AgentError):
            await ask(wiring["A"]["B"], "go")
    steps = recorder.trace().steps
    assert [step.additional_attributes["hop"] for step in steps] == ["1", "2", "3", "4", "5"]
    assert all(step.error for step in steps)
    assert (steps[-1].error or "").startswith("hop limit: 4 calls are open inside each other")


@pytest.mark.parametrize("rest", ["", "message:send"])
async def test_messages_beyond_the_limit_of_a_recording_are_refused_and_noted_once(
    serving: Serving, recorder: TraceRecorder, rest: str
) -> None:
    url = serving(scripted_agent(echo, bindings=("JSONRPC", "HTTP+JSON")))
    async with ObservingProxy({"A": NOWHERE, "B": url}, limits=ProxyLimits(max_calls=2)) as proxy:
        with proxy.recording(recorder):
            body = message() if rest else rpc()
            answers = [await post(proxy.url_for("A", "B") + rest, json=body) for _ in range(5)]
    errors = [one.json().get("error", {}).get("message", "") for one in answers]
    assert [error[:10] for error in errors] == ["", "", "call limit", "call limit", "call limit"]
    assert answers[-1].status_code == (500 if rest else 200)
    noted = [(step.error or "")[:10] for step in recorder.trace().steps]
    assert noted == ["", "", "call limit"]


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


@pytest.mark.parametrize("name", ["max_hops", "max_calls", "max_request_bytes", "keepalive_s"])
def test_a_limit_that_is_not_positive_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be positive, not 0"):
        ProxyLimits(**{name: 0})


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


def holds(arrived: asyncio.Event, given_up: asyncio.Event) -> Starlette:
    """Never answers; says when it is asked, and when nobody waits for it any more."""
    loop = asyncio.get_running_loop()

    async def answer(request: Request) -> Response:
        await request.body()
        loop.call_soon_threadsafe(arrived.set)
        await request.receive()
        loop.call_soon_threadsafe(given_up.set)
        return Response()

    return raw_agent(answer)


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


async def test_closing_the_proxy_gives_up_what_is_in_flight(
    serving: Serving, recorder: TraceRecorder
) -> None:
    arrived, given_up = asyncio.Event(), asyncio.Event()
    async with ObservingProxy({"A": NOWHERE, "B": serving(holds(arrived, given_up))}) as proxy:
        with proxy.recording(recorder):
            url = proxy.url_for("A", "B")
            call = asyncio.create_task(post(url))
            await arrived.wait()
        assert only_step(recorder).error == "no answer yet when the recording ended"
    assert (await call).status_code == 503
    await given_up.wait()
    with pytest.raises(httpx.ConnectError):
        await post(url)


# --- Tasks that go on after their answer ----------------------------------------------------------


def slow_worker(*, poll_state: str) -> Starlette:
    """Answers with a task that works, and with `poll_state` when it is asked for it."""

    async def answer(request: Request) -> Response:
        asked = await request.json()
        if asked["method"] == "GetTask":
            artifact = {"artifactId": "a", "parts": [{"text": "at last"}]}
            result = task_event(poll_state, artifacts=[artifact])["task"]
        else:
            result = task_event("TASK_STATE_WORKING")
        return JSONResponse({"jsonrpc": "2.0", "id": "7", "result": result})

    return raw_agent(answer, streaming=False)


async def test_a_step_ends_when_its_caller_sees_the_task_end(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(slow_worker(poll_state="TASK_STATE_COMPLETED"))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            ours = proxy.url_for("A", "B")
            await post(ours)
            assert recorder.trace().steps == ()
            await post(ours, json=rpc("GetTask", {"id": "task-1"}))
            assert only_step(recorder).response_text == "at last"
    assert only_step(recorder).additional_attributes["state"] == "completed"


@pytest.mark.parametrize("polls", [0, 2])
async def test_a_task_whose_end_nobody_saw_is_working_when_the_recording_ends(
    serving: Serving, recorder: TraceRecorder, polls: int
) -> None:
    url = serving(slow_worker(poll_state="TASK_STATE_WORKING"))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            await post(proxy.url_for("A", "B"))
            for _ in range(polls):
                await post(proxy.url_for("A", "B"), json=rpc("GetTask", {"id": "task-1"}))
    step = only_step(recorder)
    assert (step.error, step.additional_attributes["state"]) == (None, "working")


async def test_a_stream_that_ended_early_waits_for_its_task(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(ends_early())
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        with proxy.recording(recorder):
            await post(proxy.url_for("A", "B"), json=rpc("SendStreamingMessage"))
            assert recorder.trace().steps == ()
    assert only_step(recorder).additional_attributes["state"] == "working"


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


async def test_calls_outside_a_recording_pass_and_are_counted(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        assert (await ask(proxy.url_for("A", "B"), "hi")).text == "you said hi"
        with (
            proxy.recording(recorder),
            pytest.raises(RuntimeError, match="one trial at a time"),
            proxy.recording(scratch()),
        ):
            pass
        assert proxy.unrecorded_calls == 1
    assert recorder.trace().steps == ()


# --- The proxy itself -----------------------------------------------------------------------------


async def test_wiring_and_aliases_name_every_pair() -> None:
    peers = {"A": "http://127.0.0.1:1/", "B/2 é": "http://127.0.0.1:2/x"}
    async with ObservingProxy(peers) as proxy:
        wiring, aliases = proxy.wiring(), proxy.aliases()
    assert {caller: set(known) for caller, known in wiring.items()} == {
        "A": {"B/2 é"},
        "B/2 é": {"A"},
    }
    assert wiring["A"]["B/2 é"].endswith("/B%2F2%20%C3%A9/")
    assert aliases["http://127.0.0.1:1"] == "A"
    assert aliases["http://127.0.0.1:2/x"] == "B/2 é"
    assert aliases[wiring["A"]["B/2 é"]] == "B/2 é"
    tokens = {url.split("/")[4] for url in aliases if "/p/" in url}
    assert len(tokens) == 2
    assert all(len(token) > 40 for token in tokens)


@pytest.mark.parametrize(
    ("peers", "new_token"),
    [
        ({"": NOWHERE}, None),
        ({"..": NOWHERE}, None),
        ({"x" * 501: NOWHERE}, None),
        ({"A": "ftp://127.0.0.1"}, None),
        ({"A": "http://user:password@127.0.0.1"}, None),
        ({"A": NOWHERE}, lambda: "short"),
        ({"A": NOWHERE, "B": NOWHERE}, lambda: "the-same-for-everyone"),
    ],
)
def test_peers_and_tokens_that_cannot_be_used_are_refused(
    peers: Mapping[str, str], new_token: Any
) -> None:
    options = {} if new_token is None else {"new_token": new_token}
    with pytest.raises(ValueError, match=r".") as caught:
        ObservingProxy(peers, **options)
    assert "password" not in str(caught.value).replace("user name or password", "")


async def test_a_proxy_has_no_addresses_before_it_starts_and_starts_once() -> None:
    proxy = ObservingProxy({"A": NOWHERE, "B": NOWHERE})
    with pytest.raises(RuntimeError, match="before it is started"):
        proxy.wiring()
    async with proxy:
        with pytest.raises(KeyError):
            proxy.url_for("A", "Z")
    with pytest.raises(RuntimeError, match="started before"):
        await proxy.__aenter__()
