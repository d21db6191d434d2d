"""The HTTP layer below a2a-sdk's client: bounded answers, and one small pool for each call.

httpx keeps all connections of a client in one list and walks it at every request, which costs more
than the requests themselves from some hundreds at once. `GuardedTransport` gives each request in
flight a lane of its own (a pool of one connection), takes the lane that was used last, and so needs
the same time however many there are. It also

- connects only to addresses that its `Gate` allows, while the Host header and the name in the
  server's certificate stay those of the URL;
- refuses compressed answers and counts body bytes, so that memory stays bounded;
- repeats a request once, unchanged, when a *kept* connection broke before an answer began: the
  server closed it while the request was on its way. A new connection is never tried again;
- repeats a request, unchanged, that did not reach its agent (see `tau_bridge.a2a.patience`).
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import httpx

from tau_bridge.a2a.faults import is_between
from tau_bridge.a2a.patience import Patience
from tau_bridge.a2a.pinning import allowed_addresses, pinned, place
from tau_bridge.a2a.policy import Gate, NetworkPolicy
from tau_bridge.errors import AgentProtocolError, AgentReplyTooLargeError

if TYPE_CHECKING:
    import ssl

Sleep = Callable[[float], Awaitable[None]]

_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
_BETWEEN = (httpx.ConnectError, *_BROKEN)
_NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout)
_DETOUR_S = 2.0
"""How long a connection may take to one of a host's addresses while there are others."""


@cache
def default_ssl_context() -> ssl.SSLContext:
    """The TLS settings that all messengers share. Making them takes 25 ms and 0.85 MB."""
    return httpx.create_ssl_context()


@dataclass
class Exchange:
    """What the transport must know of the call it serves, and tells about it."""

    url: str
    max_bytes: int
    received_bytes: int = 0
    retries: int = 0


_EXCHANGE: ContextVar[Exchange] = ContextVar("greenroom_exchange")


@contextmanager
def exchange(current: Exchange) -> Iterator[Exchange]:
    """Every request made inside, in this task, belongs to `current`."""
    token = _EXCHANGE.set(current)
    try:
        yield current
    finally:
        _EXCHANGE.reset(token)


class _Lane:
    """One connection at most, for one request at a time."""

    def __init__(self, ssl_context: ssl.SSLContext, keepalive_s: float) -> None:
        limits = httpx.Limits(
            max_connections=1, max_keepalive_connections=1, keepalive_expiry=keepalive_s
        )
        self._transport = httpx.AsyncHTTPTransport(
            verify=ssl_context, limits=limits, trust_env=False
        )
        self._served = False
        self.idle_since_s = 0.0

    async def send(self, request: httpx.Request) -> httpx.Response:
        """Send the request.

        Raises:
            _KeptConnectionBrokenError: The connection was an old one, and broke before the answer.
            httpx.TransportError: Anything else went wrong.
        """
        if not self._served:
            self._served = True
            return await self._transport.handle_async_request(request)
        connected = False

        async def watch(event: str, _: dict[str, Any]) -> None:
            nonlocal connected
            connected = connected or event == "connection.connect_tcp.started"

        request.extensions["trace"] = watch
        try:
            return await self._transport.handle_async_request(request)
        except _BROKEN as exc:
            if connected:
                raise
            raise _KeptConnectionBrokenError from exc

    async def aclose(self) -> None:
        await self._transport.aclose()


class _KeptConnectionBrokenError(Exception):
    pass


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport for the calls of one agent. See the head of this module.

    Args:
        ssl_context: TLS settings.
        keepalive_s: How long an idle connection is kept.
        gate: Which addresses may be called; everything a command line's user may, by default.
        patience: How long an agent that turns requests away is waited for.
        sleep: Waits.
    """

    def __init__(
        self,
        *,
        ssl_context: ssl.SSLContext,
        keepalive_s: float,
        gate: Gate | None = None,
        patience: Patience | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._ssl_context = ssl_context
        self._keepalive_s = keepalive_s
        self._gate = gate or Gate(NetworkPolicy.open())
        self._patience = patience or Patience()
        self._sleep = sleep
        self._idle: deque[_Lane] = deque()
        self._busy: set[_Lane] = set()
        self._spoiled: list[_Lane] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the answer's stream is bounded by the current `Exchange`.

        Raises:
            AgentForbiddenError: The host may not be called.
            AgentProtocolError: The answer is compressed.
            AgentReplyTooLargeError: More bytes were announced, or came, than are allowed.
            httpx.TransportError: No answer.
        """
        current = _EXCHANGE.get()
        retries, waited_s = 0, 0.0
        while True:
            try:
                response = await self._reached(request, current)
            except _BETWEEN as exc:
                wait_s = self._patience.wait_after_break_s(retries=retries, waited_s=waited_s)
                # A card is asked for to learn whether the agent is there: no news is news.
                if wait_s is None or request.method == "GET" or not is_between(exc):
                    raise
            else:
                wait_s = self._patience.wait_s(
                    response.status_code, response.headers, retries=retries, waited_s=waited_s
                )
                if wait_s is None:
                    return response
                await response.aclose()
            retries, waited_s = retries + 1, waited_s + wait_s
            current.retries += 1
            await self._sleep(wait_s)

    async def _reached(self, request: httpx.Request, current: Exchange) -> httpx.Response:
        """The answer from the first of the host's addresses that takes a connection."""
        addresses = await allowed_addresses(self._gate, request, url=current.url)
        if len(addresses) == 1:
            return await self._sent(pinned(request, addresses[0]), current)
        for address in addresses[:-1]:
            try:
                response = await self._sent(pinned(request, address, within_s=_DETOUR_S), current)
            except _NOT_CONNECTED:
                continue
            self._gate.prefer(*place(request), address)
            return response
        response = await self._sent(pinned(request, addresses[-1]), current)
        self._gate.prefer(*place(request), addresses[-1])
        return response

    async def _sent(self, request: httpx.Request, current: Exchange) -> httpx.Response:
        await self._close_unusable()
        lane = self._idle.pop() if self._idle else self._new_lane()
        self._busy.add(lane)
        try:
            try:
                response = await lane.send(request)
            except _KeptConnectionBrokenError:
                current.retries += 1
                self._busy.discard(lane)
                await lane.aclose()
                lane = self._new_lane()
                self._busy.add(lane)
                response = await lane.send(request)
        except BaseException:
            self._release(lane, clean=False)
            raise
        if not isinstance(response.stream, httpx.AsyncByteStream):
            msg = "httpx gave an answer without an asynchronous stream"
            raise TypeError(msg)
        stream = BoundedStream(response.stream, current, partial(self._release, lane))
        try:
            check_head(response, current)
        except BaseException:
            await stream.aclose()
            raise
        response.stream = stream
        return response

    async def aclose(self) -> None:
        """Close every connection, also those in use."""
        lanes = [*self._idle, *self._busy, *self._spoiled]
        self._idle.clear()
        self._busy.clear()
        self._spoiled.clear()
        for lane in lanes:
            await lane.aclose()

    def _new_lane(self) -> _Lane:
        return _Lane(self._ssl_context, self._keepalive_s)

    def _release(self, lane: _Lane, *, clean: bool) -> None:
        """Take a lane back. One that was cut off is closed: httpcore's pool may be stuck then.

        (A cancellation that hits the pool while it closes a response leaves the request in its
        list, and a pool of one connection never serves another.)
        """
        if lane not in self._busy:
            return
        self._busy.discard(lane)
        if clean:
            lane.idle_since_s = time.monotonic()
            self._idle.append(lane)
        else:
            self._spoiled.append(lane)

    async def _close_unusable(self) -> None:
        expired_s = time.monotonic() - self._keepalive_s
        while self._idle and self._idle[0].idle_since_s < expired_s:
            await self._idle.popleft().aclose()
        while self._spoiled:
            await self._spoiled.pop().aclose()


class BoundedStream(httpx.AsyncByteStream):
    """A body that may not be longer than its exchange allows.

    Calls `released` once, when closed, and tells it whether the body was read to its end.
    """

    def __init__(
        self,
        stream: httpx.AsyncByteStream,
        current: Exchange,
        released: Callable[..., None] = lambda **_: None,
    ) -> None:
        self._stream = stream
        self._exchange = current
        self._released: Callable[..., None] | None = released
        self._ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        current = self._exchange
        received = 0
        async for chunk in self._stream:
            received += len(chunk)
            current.received_bytes += len(chunk)
            if received > current.max_bytes:
                raise _too_large(current)
            yield chunk
        self._ended = True

    async def aclose(self) -> None:
        """Close the stream, and tell so."""
        released, self._released = self._released, None
        if released is None:
            return
        clean = False
        try:
            await self._stream.aclose()
            clean = self._ended
        finally:
            released(clean=clean)


def check_head(response: httpx.Response, current: Exchange) -> None:
    """Look at what the head of an answer announces.

    Raises:
        AgentProtocolError: A compressed body.
        AgentReplyTooLargeError: A body that is too long.
    """
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        msg = (
            f"the agent at {current.url!r} sent an answer compressed as {encoding!r}, although the"
            " request said 'Accept-Encoding: identity'; turn compression off on its server"
        )
        raise AgentProtocolError(current.url, msg)
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > current.max_bytes:
        raise _too_large(current)


def _too_large(current: Exchange) -> AgentReplyTooLargeError:
    msg = (
        f"the agent at {current.url!r} sent more than {current.max_bytes} bytes in one answer;"
        " make it answer with less, or raise the limit"
    )
    return AgentReplyTooLargeError(current.url, msg)
