"""Agents that answer as no agent should."""

from __future__ import annotations

import asyncio
import contextlib
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.fakes.agents import card_route, scripted_agent
from tests.fakes.grpc_serving import serve_grpc

MEBIBYTE = 1024 * 1024


# --- Agents that end their own tasks ------------------------------------------------------------


def fails(reason: str = "the model is gone") -> Starlette:
    """Its tasks end as failed."""
    return scripted_agent(lambda _text, _context: reason, state="failed")


def rejects(reason: str = "not my business") -> Starlette:
    """Its tasks end as rejected."""
    return scripted_agent(lambda _text, _context: reason, state="rejected")


def cancels(reason: str = "stopped") -> Starlette:
    """Its tasks end as canceled."""
    return scripted_agent(lambda _text, _context: reason, state="canceled")


def auth_required(reason: str = "log in first") -> Starlette:
    """Its tasks stop until somebody brings credentials."""
    return scripted_agent(lambda _text, _context: reason, state="auth_required")


def changes_context() -> Starlette:
    """Answers with the context id that it was sent, in a context id of its own each time."""
    return scripted_agent(
        lambda _text, context_id: context_id, reply_transport="message", new_context=True
    )


# --- Hostile and broken agents ------------------------------------------------------------------

Endpoint: TypeAlias = "Callable[[Request], Awaitable[Response]]"


def raw_agent(endpoint: Endpoint, *, streaming: bool = True) -> Starlette:
    """A valid card of protocol 1.0, and `endpoint` for whatever is posted to it."""
    card = card_route(protocols=("1.0",), streaming=streaming)
    return Starlette(routes=[card, Route("/", endpoint, methods=["POST"])])


def raw_grpc_agent(servicer: Any, **options: Any) -> Starlette:
    """A valid card of protocol 1.0 with gRPC alone, and `servicer` for whatever is called.

    It needs the extra `grpc`.

    Args:
        servicer: An `A2AServiceServicer` of a2a-sdk.
        options: Arguments of `serve_grpc`.
    """
    from a2a.types import a2a_pb2_grpc

    register: Any = a2a_pb2_grpc.add_A2AServiceServicer_to_server  # generated code has no types

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with serve_grpc(lambda server: register(servicer, server), **options) as url:
            app.state.grpc_url = url
            yield

    return Starlette(routes=[card_route(protocols=("1.0",), bindings=("GRPC",))], lifespan=lifespan)


def sse(result: Mapping[str, Any]) -> bytes:
    """One event of a JSON-RPC stream of protocol 1.0."""
    return (
        b"data: " + json.dumps({"jsonrpc": "2.0", "id": "1", "result": result}).encode() + b"\n\n"
    )


def task_event(state: str, **fields: Any) -> dict[str, Any]:
    """The task of a hand-made agent, as a result: `state` as in `TASK_STATE_WORKING`."""
    return {
        "task": {"id": "task-1", "contextId": "context-1", "status": {"state": state}, **fields}
    }


def _event_stream(chunks: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> Response:
    return StreamingResponse(chunks, media_type="text/event-stream", headers=headers)


def http_status(
    status: int, body: str = "boom", headers: dict[str, str] | None = None
) -> Starlette:
    """Answers every message with an HTTP status and no A2A."""

    async def answer(_: Request) -> Response:
        return Response(body, status_code=status, headers=headers)

    return raw_agent(answer)


def http_500() -> Starlette:
    """Answers every message with HTTP 500."""
    return http_status(500)


def jsonrpc_error(code: int, message: str = "no", *, streaming: bool = True) -> Starlette:
    """Answers every message with a JSON-RPC error."""

    async def answer(_: Request) -> Response:
        error = {"code": code, "message": message}
        return JSONResponse({"jsonrpc": "2.0", "id": "1", "error": error})

    return raw_agent(answer, streaming=streaming)


def says(body: bytes, *, media_type: str = "text/event-stream") -> Starlette:
    """Answers every message with these bytes."""

    async def answer(_: Request) -> Response:
        return Response(body, media_type=media_type)

    return raw_agent(answer)


def hangs() -> Starlette:
    """Takes a message and never answers."""

    async def answer(_: Request) -> Response:
        await asyncio.Event().wait()
        return Response()

    return raw_agent(answer)


def hanging_card() -> Starlette:
    """Never answers when asked for its card."""

    async def answer(_: Request) -> Response:
        await asyncio.Event().wait()
        return Response()

    return Starlette(routes=[Route(AGENT_CARD_WELL_KNOWN_PATH, answer)])


def huge(megabytes: int = 100, *, in_card: bool = False) -> Starlette:
    """Sends a reply (or a card) of that many megabytes."""

    async def chunks() -> AsyncIterator[bytes]:
        yield b'{"jsonrpc": "2.0", "id": "1", "result": {"message": {"parts": [{"text": "'
        for _ in range(megabytes):
            yield b"x" * MEBIBYTE
        yield b'"}]}}}'

    async def answer(_: Request) -> Response:
        return StreamingResponse(chunks(), media_type="application/json")

    if in_card:
        return Starlette(routes=[Route(AGENT_CARD_WELL_KNOWN_PATH, answer)])
    return raw_agent(answer)


def gzip_bomb(megabytes: int = 600) -> Starlette:
    """Sends a small compressed reply that unpacks to that many megabytes, asked for or not."""
    packer = zlib.compressobj(wbits=31)
    bomb = b"".join(packer.compress(b"x" * MEBIBYTE) for _ in range(megabytes)) + packer.flush()

    async def answer(_: Request) -> Response:
        headers = {"content-encoding": "gzip"}
        return Response(bomb, media_type="application/json", headers=headers)

    return raw_agent(answer)


def never_ends() -> Starlette:
    """Reports progress without pause, and never a result."""

    async def chunks() -> AsyncIterator[bytes]:
        while True:
            yield sse(task_event("TASK_STATE_WORKING"))
            await asyncio.sleep(0.01)

    async def answer(_: Request) -> Response:
        return _event_stream(chunks())

    return raw_agent(answer)


def keeps_stream_open(text: str = "done") -> Starlette:
    """Completes its task, but leaves the stream open."""

    async def chunks() -> AsyncIterator[bytes]:
        artifact = {"artifactId": "a", "parts": [{"text": text}]}
        yield sse(task_event("TASK_STATE_COMPLETED", artifacts=[artifact]))
        await asyncio.Event().wait()

    async def answer(_: Request) -> Response:
        return _event_stream(chunks())

    return raw_agent(answer)


def drops_connection() -> Starlette:
    """Closes the connection in the middle of its stream."""

    async def chunks() -> AsyncIterator[bytes]:
        yield sse(task_event("TASK_STATE_WORKING"))

    async def answer(_: Request) -> Response:
        # The server closes a connection on which less came than was promised.
        return _event_stream(chunks(), {"content-length": "100000"})

    return raw_agent(answer)


def ends_early() -> Starlette:
    """Ends its stream in good order while its task is still working, and knows no other method."""

    async def answer(request: Request) -> Response:
        if "Streaming" not in (await request.json())["method"]:
            error = {"code": -32601, "message": "Method not found"}
            return JSONResponse({"jsonrpc": "2.0", "id": "1", "error": error})
        return Response(sse(task_event("TASK_STATE_WORKING")), media_type="text/event-stream")

    return raw_agent(answer)


def invalid_card(body: str = '{"name": ["not", "a", "card"]}', *, status: int = 200) -> Starlette:
    """Serves something else where its card should be."""

    async def answer(_: Request) -> Response:
        return Response(body, status_code=status, media_type="application/json")

    return Starlette(routes=[Route(AGENT_CARD_WELL_KNOWN_PATH, answer)])
