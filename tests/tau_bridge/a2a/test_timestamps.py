"""Timestamps without a zone, as fasta2a 2.1 sends them, are no reason to refuse an answer."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.timestamps import remove_unreadable_timestamp
from tau_bridge.recorder import TraceRecorder
from tests.fakes.agents import card_route

from .conftest import Serving

ZONELESS = "2026-11-22T10:15:30.123456"
BOOKED = {"timestamp": ZONELESS, "seat": "12A"}


def task_1_0(state: str, **fields: Any) -> dict[str, Any]:
    status = {"state": f"TASK_STATE_{state.upper()}", "timestamp": ZONELESS}
    return {"id": "t", "contextId": "c", "status": status, **fields}


def task_0_3(state: str, **fields: Any) -> dict[str, Any]:
    status = {"state": state, "timestamp": ZONELESS}
    return {"kind": "task", "id": "t", "contextId": "c", "status": status, **fields}


def events_of(protocol: str) -> list[dict[str, Any]]:
    """A task that begins, works and completes; each of its times lacks a zone."""
    if protocol == "1.0":
        artifact = {"artifactId": "a", "parts": [{"data": BOOKED}]}
        working = {
            "taskId": "t",
            "contextId": "c",
            "status": {"state": "TASK_STATE_WORKING", "timestamp": ZONELESS},
        }
        return [
            {"task": task_1_0("submitted")},
            {"statusUpdate": working},
            {"task": task_1_0("completed", artifacts=[artifact])},
        ]
    artifact = {"artifactId": "a", "parts": [{"kind": "data", "data": BOOKED}]}
    working = {
        "kind": "status-update",
        "taskId": "t",
        "contextId": "c",
        "final": False,
        "status": {"state": "working", "timestamp": ZONELESS},
    }
    return [task_0_3("submitted"), working, task_0_3("completed", artifacts=[artifact])]


def agent(protocol: str, *, streaming: bool, polled: bool = False) -> Starlette:
    """Sends such times in every event; `polled`: its task is completed only when asked for."""
    first, *_, last = events = events_of(protocol)

    def answer(result: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": "1", "result": result}

    async def stream() -> AsyncIterator[bytes]:
        for event in events:
            line = f"data: {json.dumps(answer(event))}\r\n\r\n".encode()
            # Events do not care how the network cuts them.
            yield line[:40]
            yield line[40:]

    async def endpoint(request: Request) -> Response:
        method = (await request.json())["method"]
        if method in ("GetTask", "tasks/get"):
            return JSONResponse(answer(last.get("task", last)))
        if polled:
            return JSONResponse(answer(first))
        if streaming:
            return StreamingResponse(stream(), media_type="text/event-stream")
        return JSONResponse(answer(last))

    card = card_route(protocols=(protocol,), streaming=streaming)
    return Starlette(routes=[card, Route("/", endpoint, methods=["POST"])])


@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
@pytest.mark.parametrize(("streaming", "polled"), [(True, False), (False, False), (False, True)])
async def test_an_agent_whose_timestamps_have_no_zone_is_read(
    serving: Serving,
    messenger: Messenger,
    recorder: TraceRecorder,
    protocol: str,
    streaming: bool,
    polled: bool,
) -> None:
    url = serving(agent(protocol, streaming=streaming, polled=polled))
    reply = await messenger.conversation(url, recorder=recorder).send("hello")
    assert (reply.state, reply.data) == ("completed", (BOOKED,))


@pytest.mark.parametrize(
    "body",
    [
        b'{"result": {"task": {"status": {"timestamp": "2026-11-22T10:15:30Z"}}}}',
        b'{"result": {"task": {"status": {"timestamp": "2026-11-22T10:15:30.5+02:00"}}}}',
        b'{"result": {"task": {"status": {"timestamp": "2026-11-22T10:15:30"}}',
        b'{"result": {"message": {"parts": [{"data": 1e400}]}}}',
        b"[" * 100_000 + b'{"timestamp": 5}',
        b"",
    ],
)
def test_an_answer_that_can_be_read_or_not_at_all_is_left_byte_for_byte(body: bytes) -> None:
    assert remove_unreadable_timestamp(body) == body


def test_data_that_holds_a_timestamp_keeps_it() -> None:
    answer = {"result": {"task": task_1_0("working", metadata={"status": BOOKED})}}
    read = json.loads(remove_unreadable_timestamp(json.dumps(answer).encode()))
    assert read["result"]["task"]["metadata"] == {"status": BOOKED}
    assert read["result"]["task"]["status"] == {"state": "TASK_STATE_WORKING"}
