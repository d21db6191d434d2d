"""Agents that are applications in this process: answers come as they are sent, and nothing leaks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import ASGIApp

from tau_bridge import errors
from tau_bridge.a2a.credentials import Credentials
from tau_bridge.a2a.guard import Exchange, exchange
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.recorder import TraceRecorder
from tests import fakes
from tests.fakes import RequestLog, raw_agent, scripted_agent, sse, task_event
from tests.fakes.behaviours import CATALOGUE, Behaviour
from tests.fakes.raw import RawAgent

from .test_behaviours import BOUND_S, IMPATIENT, PATIENT, named

SHOP = "http://shop.test"
LIMITS = MessengerLimits(settle_s=0.01, poll_interval_s=0.001, retry_wait_s=0.001)
IN_PROCESS = [one for one in CATALOGUE if not isinstance(one.agent(), RawAgent)]


def messenger_of(app: ASGIApp, *, limits: MessengerLimits = LIMITS) -> Messenger:
    return Messenger(apps={f"{SHOP}/": app}, limits=limits)


async def answer_of(app: ASGIApp, recorder: TraceRecorder) -> str:
    messenger = messenger_of(app)
    try:
        return (await messenger.conversation(SHOP, recorder=recorder).send("hello")).text
    finally:
        await messenger.aclose()


async def failure_of(app: ASGIApp, recorder: TraceRecorder) -> errors.AgentError:
    with pytest.raises(errors.AgentError) as caught:
        await answer_of(app, recorder)
    (step,) = recorder.trace().steps
    assert step.error == f"{type(caught.value).__name__}: {caught.value}"
    return caught.value


@pytest.mark.parametrize("behaviour", IN_PROCESS, ids=named)
async def test_every_behaviour_ends_as_it_does_at_an_address(
    behaviour: Behaviour, recorder: TraceRecorder
) -> None:
    app = behaviour.agent()
    assert not isinstance(app, RawAgent)
    endless = behaviour.error in (errors.AgentSilentError, errors.AgentTimeoutError)
    messenger = messenger_of(app, limits=IMPATIENT if endless else PATIENT)
    try:
        async with asyncio.timeout(BOUND_S):
            conversation = messenger.conversation(SHOP, recorder=recorder)
            for _ in range(behaviour.messages - 1):
                await conversation.send("go on")
            if behaviour.error is None:
                assert (await conversation.send("hello")).as_text() == behaviour.text
            else:
                with pytest.raises(errors.AgentError) as caught:
                    await conversation.send("hello")
                assert type(caught.value) is behaviour.error, str(caught.value)
                assert behaviour.words in str(caught.value)
    finally:
        await messenger.aclose()


async def test_an_event_arrives_before_the_next_one_is_sent(recorder: TraceRecorder) -> None:
    """The agent sends its second event once somebody has read its first."""
    read = asyncio.Event()

    async def chunks() -> AsyncIterator[bytes]:
        yield sse(task_event("TASK_STATE_WORKING"))
        await read.wait()
        yield sse(task_event("TASK_STATE_COMPLETED"))

    async def answer(_: Request) -> Response:
        return StreamingResponse(chunks(), media_type="text/event-stream")

    messenger = messenger_of(raw_agent(answer))
    connection = messenger._connection(SHOP)
    conversation = messenger.conversation(SHOP, recorder=recorder)
    request = conversation._request("hello")
    states = []
    with exchange(Exchange(url=SHOP, max_bytes=10_000)):
        async for event in connection.events(request, traceparent="00-1"):
            states.append(event.task.status.state)
            read.set()
    await messenger.aclose()
    assert len(states) == 2


async def test_an_answer_without_an_end_is_not_held_in_memory(recorder: TraceRecorder) -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1000
            yield b"x" * 1000

    async def answer(_: Request) -> Response:
        return StreamingResponse(chunks(), media_type="text/event-stream")

    messenger = messenger_of(raw_agent(answer), limits=MessengerLimits(max_reply_bytes=10_000))
    with pytest.raises(errors.AgentReplyTooLargeError):
        await messenger.conversation(SHOP, recorder=recorder).send("hello")
    await messenger.aclose()
    # One piece at a time, so the application is stopped at most two beyond the limit.
    assert 10_000 < sent <= 13_000


async def test_an_application_that_breaks_is_answered_for_and_its_error_is_logged(
    recorder: TraceRecorder, caplog: pytest.LogCaptureFixture
) -> None:
    async def breaks(_: Request) -> Response:
        raise ValueError("no model")

    error = await failure_of(raw_agent(breaks), recorder)
    assert (type(error), error.fault) == (errors.AgentProtocolError, "agent")
    assert "HTTP 500" in str(error)
    assert "no model" in caplog.text


async def test_an_application_that_sends_nothing_is_a_broken_one(recorder: TraceRecorder) -> None:
    agent = scripted_agent(lambda *_: "hi")

    async def silent(scope, receive, send):  # type: ignore[no-untyped-def]
        if scope["method"] == "GET":
            await agent(scope, receive, send)

    error = await failure_of(silent, recorder)
    assert type(error) is errors.AgentProtocolError


async def test_an_answer_that_its_application_leaves_unfinished_broke_off(
    recorder: TraceRecorder,
) -> None:
    agent = scripted_agent(lambda *_: "hi")

    async def unfinished(scope, receive, send):  # type: ignore[no-untyped-def]
        if scope["method"] == "GET":
            await agent(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 200})
            await send({"type": "http.response.body", "body": b"{", "more_body": True})

    error = await failure_of(unfinished, recorder)
    assert type(error) is errors.AgentUnreachableError


async def test_what_an_application_does_after_its_answer_is_left_to_finish(
    recorder: TraceRecorder,
) -> None:
    answered, finished = asyncio.Event(), asyncio.Event()

    async def later() -> None:
        await answered.wait()
        finished.set()

    async def answer(_: Request) -> Response:
        body = sse({"message": {"messageId": "m", "parts": [{"text": "hi"}]}})
        return Response(body, media_type="text/event-stream", background=BackgroundTask(later))

    messenger = messenger_of(raw_agent(answer))
    await messenger.conversation(SHOP, recorder=recorder).send("hello")
    answered.set()
    async with asyncio.timeout(BOUND_S):
        await finished.wait()
    await messenger.aclose()


async def test_closing_stops_every_call_that_still_runs(recorder: TraceRecorder) -> None:
    arrived, stopped = asyncio.Event(), asyncio.Event()

    async def stall(_: Request) -> Response:
        arrived.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return Response()

    messenger = messenger_of(raw_agent(stall))
    sending = asyncio.create_task(messenger.conversation(SHOP, recorder=recorder).send("hello"))
    await arrived.wait()
    await messenger.aclose()
    assert stopped.is_set()
    with pytest.raises(errors.AgentUnreachableError):
        await sending


async def test_a_caller_who_leaves_is_seen_to_leave(recorder: TraceRecorder) -> None:
    stopped = asyncio.Event()

    async def stall(_: Request) -> Response:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return Response()

    limits = MessengerLimits(timeout_s=0.2, cancel_timeout_s=0.1)
    messenger = messenger_of(raw_agent(stall), limits=limits)
    with pytest.raises(errors.AgentSilentError):
        await messenger.conversation(SHOP, recorder=recorder).send("hello")
    assert stopped.is_set()
    await messenger.aclose()


async def test_an_application_is_called_at_its_address_alone(recorder: TraceRecorder) -> None:
    app = RequestLog(scripted_agent(lambda *_: "hi"))
    messenger = messenger_of(app)
    with fakes.closed_port() as nobody, pytest.raises(errors.AgentUnreachableError):
        await messenger.conversation(nobody, recorder=recorder).send("hello")
    assert app.requests == []
    await messenger.aclose()


async def test_an_application_is_called_whatever_the_policy_says(recorder: TraceRecorder) -> None:
    url = "http://127.0.0.1:1"
    app = scripted_agent(lambda *_: "hi", interface_url="http://0.0.0.0:9010/")
    messenger = Messenger(apps={url: app}, policy=NetworkPolicy.public())
    assert (await messenger.conversation(url, recorder=recorder).send("hello")).text == "hi"
    assert (await messenger.card(url)).endpoint == f"{url}/"
    await messenger.aclose()


async def test_a_token_goes_along_and_is_not_recorded(recorder: TraceRecorder) -> None:
    app = RequestLog(scripted_agent(lambda *_: "it is tok-0123456789"))
    messenger = Messenger(
        apps={SHOP: app}, credentials={SHOP: Credentials.of_bearer("tok-0123456789")}
    )
    await messenger.conversation(SHOP, recorder=recorder).send("hello")
    await messenger.aclose()
    assert {seen.headers["authorization"] for seen in app.requests} == {"Bearer tok-0123456789"}
    assert {seen.headers["host"] for seen in app.requests} == {"shop.test"}
    assert "tok-0123456789" not in recorder.trace().to_json()


async def test_the_lifespan_is_left_to_whoever_made_the_application(
    recorder: TraceRecorder,
) -> None:
    told: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        told.append("started")
        yield
        told.append("stopped")

    app = Starlette(routes=scripted_agent(lambda *_: "hi").routes, lifespan=lifespan)
    assert await answer_of(app, recorder) == "hi"
    assert told == []
    async with app.router.lifespan_context(app):
        assert await answer_of(app, recorder) == "hi"
    assert told == ["started", "stopped"]


async def test_grpc_alone_cannot_be_called_without_a_port(recorder: TraceRecorder) -> None:
    card = fakes.card_route(bindings=("GRPC",))
    error = await failure_of(Starlette(routes=[card]), recorder)
    assert type(error) is errors.AgentAccessError
    assert "an agent in this process does not have" in str(error)
