"""The connections to one agent: one small pool for each call, and only to allowed addresses.

httpx keeps all connections of a client in one list and walks it at every request, which costs more
than the requests themselves from some hundreds at once. `PooledTransport` gives each request in
flight a lane of its own (a pool of one connection), takes the lane that was used last, and so needs
the same time however many there are. It also

- connects only to addresses that its `Gate` allows, while the Host header and the name in the
  server's certificate stay those of the URL;
- repeats a request once, unchanged, when a *kept* connection broke before an answer began: the
  server closed it while the request was on its way. A new connection is never tried again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx

from tau_bridge.a2a.guard import current_exchange
from tau_bridge.a2a.pinning import DETOUR_S, allowed_addresses, pinned, place

if TYPE_CHECKING:
    import ssl

    from tau_bridge.a2a.policy import Gate

_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
_NOT_CONNECTED = (httpx.ConnectError, httpx.ConnectTimeout)


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


class PooledTransport(httpx.AsyncBaseTransport):
    """An httpx transport over connections to one agent. See the head of this module.

    Args:
        gate: Which addresses may be called.
        ssl_context: TLS settings.
        keepalive_s: How long an idle connection is kept.
    """

    def __init__(self, gate: Gate, *, ssl_context: ssl.SSLContext, keepalive_s: float) -> None:
        self._gate = gate
        self._ssl_context = ssl_context
        self._keepalive_s = keepalive_s
        self._idle: deque[_Lane] = deque()
        self._busy: set[_Lane] = set()
        self._spoiled: list[_Lane] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to the first of the host's addresses that takes a connection.

        Raises:
            AgentForbiddenError: The host may not be called.
            httpx.TransportError: No answer.
        """
        addresses = await allowed_addresses(self._gate, request, url=current_exchange().url)
        if len(addresses) == 1:
            return await self._sent(pinned(request, addresses[0]))
        for address in addresses[:-1]:
            try:
                response = await self._sent(pinned(request, address, within_s=DETOUR_S))
            except _NOT_CONNECTED:
                continue
            self._gate.prefer(*place(request), address)
            return response
        response = await self._sent(pinned(request, addresses[-1]))
        self._gate.prefer(*place(request), addresses[-1])
        return response

    async def _sent(self, request: httpx.Request) -> httpx.Response:
        await self._close_unusable()
        lane = self._idle.pop() if self._idle else self._new_lane()
        self._busy.add(lane)
        try:
            try:
                response = await lane.send(request)
            except _KeptConnectionBrokenError:
                current_exchange().retries += 1
                self._busy.discard(lane)
                await lane.aclose()
                lane = self._new_lane()
                self._busy.add(lane)
                response = await lane.send(request)
        except BaseException:
            self._release(lane, clean=False)
            raise
        if not isinstance(response.stream, httpx.AsyncByteStream):
            raise TypeError("httpx gave an answer without an asynchronous stream")
        response.stream = _LaneStream(response.stream, partial(self._release, lane))
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


class _LaneStream(httpx.AsyncByteStream):
    """A body that, once closed, tells its pool whether it was read to its end."""

    def __init__(self, stream: httpx.AsyncByteStream, released: Callable[..., None]) -> None:
        self._stream = stream
        self._released: Callable[..., None] | None = released
        self._ended = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk
        self._ended = True

    async def aclose(self) -> None:
        released, self._released = self._released, None
        if released is None:
            return
        clean = False
        try:
            await self._stream.aclose()
            clean = self._ended
        finally:
            released(clean=clean)
