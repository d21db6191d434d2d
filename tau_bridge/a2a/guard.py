"""Bounds the HTTP answers of agents, and repeats requests that did not reach them.

`GuardedTransport` stands between a2a-sdk's client and what carries its requests: connections
(`tau_bridge.a2a.pool`), or an application in this process (`tau_bridge.a2a.in_process`). It

- refuses compressed answers and counts body bytes, so that memory stays bounded;
- repeats a request, unchanged, that did not reach its agent (see `tau_bridge.a2a.retry_policy`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import httpx

from tau_bridge.a2a.faults import is_between
from tau_bridge.a2a.retry_policy import RetryPolicy
from tau_bridge.errors import AgentProtocolError, AgentReplyTooLargeError

if TYPE_CHECKING:
    import ssl

Sleep = Callable[[float], Awaitable[None]]

_BETWEEN = (httpx.ConnectError, httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)


@cache
def default_ssl_context() -> ssl.SSLContext:
    """Return the TLS settings that all messengers share. Making them takes 25 ms and 0.85 MB."""
    return httpx.create_ssl_context()


@dataclass
class Exchange:
    """One call, for the transport that serves it: its limits, and what the transport counted."""

    url: str
    max_bytes: int
    received_bytes: int = 0
    retries: int = 0
    refusals: list[int] = field(default_factory=list)
    """Statuses with which the next requests are turned away on purpose; the agent gets none of them."""


_EXCHANGE: ContextVar[Exchange] = ContextVar("greenroom_exchange")


@contextmanager
def exchange(current: Exchange) -> Iterator[Exchange]:
    """Make every request inside, in this task, belong to `current`."""
    token = _EXCHANGE.set(current)
    try:
        yield current
    finally:
        _EXCHANGE.reset(token)


def current_exchange() -> Exchange:
    """Return the call that this task makes.

    Raises:
        LookupError: It makes none: that is an error of ours.
    """
    return _EXCHANGE.get()


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport for the calls of one agent. See the head of this module."""

    def __init__(
        self,
        inner: httpx.AsyncBaseTransport,
        *,
        retry_policy: RetryPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._inner = inner
        self._retry_policy = retry_policy or RetryPolicy()
        self._sleep = sleep

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the answer's stream is bounded by the current `Exchange`.

        Raises:
            AgentForbiddenError: The host may not be called.
            AgentProtocolError: The answer is compressed.
            AgentReplyTooLargeError: More bytes were announced, or came, than are allowed.
            httpx.TransportError: No answer.
        """
        current = current_exchange()
        retries, waited_s = 0, 0.0
        while True:
            try:
                response = refused(request, current) or await self._bounded(request, current)
            except _BETWEEN as exc:
                wait_s = self._retry_policy.wait_after_break_s(retries=retries, waited_s=waited_s)
                # A card is asked for to learn whether the agent is there: no news is news.
                if wait_s is None or request.method == "GET" or not is_between(exc):
                    raise
            else:
                wait_s = self._retry_policy.wait_s(
                    response.status_code, response.headers, retries=retries, waited_s=waited_s
                )
                if wait_s is None:
                    return response
                await response.aclose()
            retries, waited_s = retries + 1, waited_s + wait_s
            current.retries += 1
            await self._sleep(wait_s)

    async def _bounded(self, request: httpx.Request, current: Exchange) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        if not isinstance(response.stream, httpx.AsyncByteStream):
            raise TypeError("the transport gave an answer without an asynchronous stream")
        try:
            check_head(
                current,
                encoding=response.headers.get("content-encoding", ""),
                length=response.headers.get("content-length", ""),
            )
        except BaseException:
            await response.stream.aclose()
            raise
        response.stream = BoundedStream(response.stream, current)
        return response

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


def refused(request: httpx.Request, current: Exchange) -> httpx.Response | None:
    """Return the answer of a server that turns a request away on purpose; None: none does."""
    if not current.refusals or request.method == "GET":
        return None
    return httpx.Response(current.refusals.pop(0), headers={"Retry-After": "0"}, request=request)


class BoundedStream(httpx.AsyncByteStream):
    """A body that may not be longer than its exchange allows."""

    def __init__(self, stream: httpx.AsyncByteStream, current: Exchange) -> None:
        self._stream = stream
        self._exchange = current

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in bound_chunks(self._stream, self._exchange):
            yield chunk

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


def check_head(current: Exchange, *, encoding: str, length: str) -> None:
    """Check what the head of an answer announces.

    Raises:
        AgentProtocolError: The body is compressed.
        AgentReplyTooLargeError: The body is too long.
    """
    encoding = encoding.strip().lower()
    if encoding not in ("", "identity"):
        raise AgentProtocolError(
            current.url,
            f"the agent at {current.url!r} sent an answer compressed as {encoding!r}, although the"
            " request said 'Accept-Encoding: identity'; turn compression off on its server",
        )
    if length.isdecimal() and int(length) > current.max_bytes:
        raise too_large(current)


def too_large(current: Exchange) -> AgentReplyTooLargeError:
    """Return the error for an answer that is longer than its exchange allows."""
    return AgentReplyTooLargeError(
        current.url,
        f"the agent at {current.url!r} sent more than {current.max_bytes} bytes in one answer;"
        " make it answer with less, or raise the limit",
    )


async def bound_chunks(chunks: AsyncIterable[bytes], current: Exchange) -> AsyncIterator[bytes]:
    """Yield the chunks of a body, and count them.

    Raises:
        AgentReplyTooLargeError: They are more than the exchange allows.
    """
    received = 0
    async for chunk in chunks:
        received += len(chunk)
        current.received_bytes += len(chunk)
        if received > current.max_bytes:
            raise too_large(current)
        yield chunk
