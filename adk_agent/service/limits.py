"""RequestLimits: how much a client may send, and how long it may take over that."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, ClassVar

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from adk_agent.service.finite_json import UnwritableError, finite_json

JSON_RPC_PATH = "/"
DRAINED_BYTES = 16 * 2**20
"""Bytes beyond the limit that are read, and thrown away, so that the client reads the answer."""
_AROUND_HEADER = len(b": \r\n")


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """Bounds on every request. All are above 0.

    Args:
        body_bytes: Size of a request's body.
        body_values: Objects, lists, numbers and texts in a body of JSON. Reading 70,000 of them,
            which fit into a MiB, takes protobuf seconds in which nobody else is served.
        header_bytes: Size of the request line and all headers.
        header_timeout_s: From the first byte of a request, or from the connection where none
            comes, until the headers are complete.
        body_timeout_s: From then until the body is complete.
        connections: Open connections; more are answered with 503.
    """

    body_bytes: int = 1024 * 1024
    body_values: int = 10_000
    header_bytes: int = 64 * 1024
    header_timeout_s: float = 10.0
    body_timeout_s: float = 30.0
    connections: int = 1000


class BodyLimit:
    """Reads a request's body within the limits before the app sees the request.

    Args:
        app: What gets the request.
        limits: The bounds.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 408 or 413, or pass the request on with its whole body."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            self._check_head(scope)
            body = await self._body(Headers(scope=scope), receive)
        except _RefusedError as refused:
            await refused.answer(scope, receive, send)
            return
        if body is None:
            return  # the client is gone, and nobody waits for an answer
        fault = None if scope["path"] == JSON_RPC_PATH else _fault(body)  # that has a code for it
        if fault is not None:
            await _RefusedError(400, fault).answer(scope, receive, send)
            return
        if _has_more_values(body, self._limits.body_values):
            message = f"the body holds more than {self._limits.body_values} JSON values"
            await _RefusedError(413, message).answer(scope, receive, send)
            return
        await self._app(scope, _replay(body, receive), send)

    def _check_head(self, scope: Scope) -> None:
        """Refuse a head that is too large, which h11 sees only where it comes in pieces.

        And one that tells the length of its body twice: two servers may read two bodies in it.
        """
        headers = scope["headers"]
        names = {name for name, _ in headers}
        line = len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"")
        size = line + sum(len(name) + len(value) + _AROUND_HEADER for name, value in headers)
        if size > self._limits.header_bytes:
            limit = self._limits.header_bytes
            raise _RefusedError(400, f"the request line and headers are larger than {limit} bytes")
        if {b"transfer-encoding", b"content-length"} <= names:
            raise _RefusedError(400, "the request has both Transfer-Encoding and Content-Length")

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        announced = headers.get("content-length", "0")
        length = int(announced) if announced.isdecimal() else 0
        waits = "expect" in headers  # to hear whether it may send its body
        if length > self._limits.body_bytes + (0 if waits else DRAINED_BYTES):
            raise self._too_large()
        try:
            async with asyncio.timeout(self._limits.body_timeout_s):
                return await self._read(receive)
        except TimeoutError:
            if length > self._limits.body_bytes:
                raise self._too_large() from None
            seconds = self._limits.body_timeout_s
            raise _RefusedError(408, f"the body did not arrive within {seconds:g} s") from None

    async def _read(self, receive: Receive) -> bytes | None:
        chunks, received = bytearray(), 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            received += len(chunk)
            if received <= self._limits.body_bytes:
                chunks += chunk
            is_last = not message.get("more_body", False)
            # A client that still sends would lose the answer with its connection.
            if received > self._limits.body_bytes and (
                is_last or received > self._limits.body_bytes + DRAINED_BYTES
            ):
                raise self._too_large()
            if is_last:
                return bytes(chunks)

    def _too_large(self) -> _RefusedError:
        return _RefusedError(413, f"the body is larger than {self._limits.body_bytes} bytes")


class _RefusedError(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        error = {"code": status, "message": message}
        # What is left of the body is not read, so the connection cannot be used again.
        self.answer = JSONResponse(
            {"error": error}, status_code=status, headers={"Connection": "close"}
        )


def _has_more_values(body: bytes, limit: int) -> bool:
    """Tell whether a body of JSON holds more values. Others refuse what is not JSON."""
    # Each value but the first has a comma or an opening bracket before it. Prose has them too, so
    # only what passes the bound this way is parsed to see.
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) < limit:
        return False
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False
    found, unread = 0, [value]
    while unread and found <= limit:
        found += 1
        value = unread.pop()
        if isinstance(value, dict):
            unread.extend(value.values())
        elif isinstance(value, list):
            unread.extend(value)
    return found > limit


def _fault(body: bytes) -> str | None:
    """Say why a body cannot be a request; None where it may be one, or others refuse it."""
    try:
        finite_json(body)
    except UnicodeDecodeError:
        return "the body is not UTF-8"
    except UnwritableError as error:
        return str(error)
    except (ValueError, RecursionError):
        return None
    return None


def _replay(body: bytes, receive: Receive) -> Receive:
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replaying() -> Message:
        return pending.pop() if pending else await receive()

    return replaying


class TimedProtocol(H11Protocol):
    """uvicorn's HTTP protocol with a time limit on headers, which uvicorn itself has not."""

    header_timeout_s: ClassVar[float]
    _header_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the headers of the first request."""
        super().connection_made(transport)
        self._start()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes; what does not complete a request's headers does not gain it time."""
        super().data_received(data)
        if self._is_answering() or self.transport.is_closing():
            self._stop()
        else:
            self._start()  # the first bytes of another request on a kept connection

    def handle_events(self) -> None:
        """Notice requests that were waiting in the buffer, too."""
        super().handle_events()
        if self._is_answering():
            self._stop()

    def _is_answering(self) -> bool:
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _start(self) -> None:
        if self._header_timer is None:
            self._header_timer = self.loop.call_later(self.header_timeout_s, self._expire)

    def _stop(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _expire(self) -> None:
        self._header_timer = None
        if not self._is_answering():
            self.transport.close()


def protocol_with(limits: RequestLimits) -> type[TimedProtocol]:
    """Return the protocol class for uvicorn that keeps these limits."""
    fields = {"header_timeout_s": limits.header_timeout_s}
    return type("LimitedProtocol", (TimedProtocol,), fields)
