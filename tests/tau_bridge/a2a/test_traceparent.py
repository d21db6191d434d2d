"""Every request of a step carries its `traceparent`, whatever the transport and the request."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentSilentError
from tau_bridge.recorder import TraceRecorder
from tau_bridge.trace_context import traceparent
from tests.fakes import RequestLog, raw_agent, scripted_agent, sse, task_event

from .conftest import Serving


@pytest.mark.parametrize(
    ("protocol", "binding"), [("1.0", "JSONRPC"), ("0.3", "JSONRPC"), ("1.0", "HTTP+JSON")]
)
async def test_each_message_carries_the_context_of_its_own_step(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder, protocol: Any, binding: Any
) -> None:
    agent = scripted_agent(lambda text, _: text, protocols=(protocol,), bindings=(binding,))
    log = RequestLog(agent)
    conversation = messenger.conversation(serving(log), recorder=recorder)
    for word in ("one", "two"):
        await conversation.send(word)
    steps = recorder.trace().steps
    assert len(steps) == 2
    assert [post.headers["traceparent"] for post in log.posts] == [
        traceparent("trace", step.step_id) for step in steps
    ]


async def test_looks_at_a_task_and_its_cancelling_belong_to_the_step_that_waited(
    serving: Serving, recorder: TraceRecorder
) -> None:
    methods: list[str] = []

    async def answer(request: Request) -> Response:
        method = (await request.json())["method"]
        methods.append(method)
        if method == "SendStreamingMessage":
            return Response(sse(task_event("TASK_STATE_WORKING")), media_type="text/event-stream")
        if method == "GetTask" and methods.count("GetTask") > 1:
            return StreamingResponse(never(), media_type="application/json")
        state = "TASK_STATE_WORKING" if method == "GetTask" else "TASK_STATE_CANCELED"
        result = task_event(state)["task"]
        return JSONResponse({"jsonrpc": "2.0", "id": "1", "result": result})

    async def never() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    log = RequestLog(raw_agent(answer))
    limits = MessengerLimits(
        timeout_s=1.0, cancel_timeout_s=5.0, settle_s=0.01, poll_interval_s=0.001
    )
    messenger = Messenger(limits=limits)
    with pytest.raises(AgentSilentError):
        await messenger.conversation(serving(log), recorder=recorder).send("hi")
    await messenger.aclose()
    [step] = recorder.trace().steps
    assert methods == ["SendStreamingMessage", "GetTask", "GetTask", "CancelTask"]
    assert {post.headers["traceparent"] for post in log.posts} == {
        traceparent("trace", step.step_id)
    }
