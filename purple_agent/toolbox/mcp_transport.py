"""McpTransport: the HTTP transport of the MCP SDK's client, with our limits.

The SDK uses its own HTTP library, httpx2, and an error in the transport ends the whole session.
Failures are therefore answered with a status that the SDK treats as a failed request, and `refusal`
keeps the reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import httpx2

from purple_agent.toolbox.exchange import HEADERS
from purple_agent.toolbox.failures import Code, EndpointError
from purple_agent.toolbox.places import read_place

if TYPE_CHECKING:
    from purple_agent.toolbox.allowed import AllowedHosts
    from purple_agent.toolbox.limits import ToolLimits

_NO_ANSWER = 502


class McpTransport(httpx2.AsyncBaseTransport):
    """Sends requests to checked addresses and limits the answers.

    Args:
        hosts: The hosts that may be called.
        limits: Limits for sizes and times.
        inner: Sends the requests; None for TCP.
    """

    def __init__(
        self,
        *,
        hosts: AllowedHosts,
        limits: ToolLimits,
        inner: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self.refusal: EndpointError | None = None
        self._hosts = hosts
        self._limits = limits
        self._inner = inner or httpx2.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer a request, with status 502 if there is no usable answer."""
        try:
            return await self._answered(request)
        except EndpointError as refused:
            self.refusal = refused
        except (httpx2.TransportError, httpx2.StreamError, OSError):
            self.refusal = EndpointError(Code.UNREACHABLE, "the tools cannot be reached")
        return httpx2.Response(_NO_ANSWER, request=request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()

    async def _answered(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._sent(request)
        try:
            self._check(response)
        except EndpointError:
            await response.aclose()
            raise
        if _is_events(response):
            response.stream = _Bounded(response.stream, self._limits.max_bytes)
            return response
        return await self._whole(request, response)

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        place = read_place(str(request.url))
        *others, last = await self._hosts.addresses(place)
        for address in others:
            try:
                return await self._to(request, address, self._limits.detour_s)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._to(request, last, self._limits.timeout_s)

    async def _to(self, request: httpx2.Request, address: str, connect_s: float) -> httpx2.Response:
        headers = request.headers.copy()
        headers["Accept-Encoding"] = HEADERS["Accept-Encoding"]
        return await self._inner.handle_async_request(
            httpx2.Request(
                request.method,
                request.url.copy_with(host=address),
                headers=headers,
                stream=request.stream,
                extensions={
                    "sni_hostname": request.url.host,
                    # The timeout of each call limits reading; a stream may be silent.
                    "timeout": {"connect": connect_s},
                },
            )
        )

    def _check(self, response: httpx2.Response) -> None:
        if 300 <= response.status_code < 400:
            raise EndpointError(
                Code.REDIRECT,
                "the tools redirect elsewhere, which is not followed",
                status=response.status_code,
            )
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise EndpointError(
                Code.PROTOCOL, "the tools sent a compressed answer, which is not read"
            )

    async def _whole(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        """Return the answer with its body read, so that reading cannot fail inside the SDK."""
        body = bytearray()
        try:
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > self._limits.max_bytes:
                    raise EndpointError(
                        Code.TOO_LARGE, f"the tools sent more than {self._limits.max_bytes} bytes"
                    )
        finally:
            await response.aclose()
        headers = [pair for pair in response.headers.multi_items() if pair[0] not in _ABOUT_THE_WAY]
        return httpx2.Response(
            response.status_code, headers=headers, content=bytes(body), request=request
        )


_ABOUT_THE_WAY = frozenset({"content-length", "transfer-encoding", "connection"})


def _is_events(response: httpx2.Response) -> bool:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower() == "text/event-stream"


class _Bounded(httpx2.AsyncByteStream):
    """A stream of events that fails once it is longer than allowed."""

    def __init__(self, stream: object, max_bytes: int) -> None:
        if not isinstance(stream, httpx2.AsyncByteStream):
            raise TypeError("httpx2 gave an answer without an asynchronous stream")
        self._stream = stream
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for chunk in self._stream:
            received += len(chunk)
            if received > self._max_bytes:
                raise httpx2.ReadError("the stream of events is longer than allowed")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
