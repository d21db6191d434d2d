"""Exchange: one HTTP request to an allowed host, with a size limit for the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import httpx

from purple_agent.toolbox.failures import Code, EndpointError

if TYPE_CHECKING:
    from purple_agent.toolbox.allowed import AllowedHosts
    from purple_agent.toolbox.limits import ToolLimits
    from purple_agent.toolbox.places import Place

HEADERS: Mapping[str, str] = {
    "Accept": "application/json",
    # A small compressed answer could be huge in memory.
    "Accept-Encoding": "identity",
    "User-Agent": "greenroom-reference-agent",
}


def new_http_client() -> httpx.AsyncClient:
    """Make a client for all conversations, without cookies. The caller closes it."""
    no_cookies = CookieJar(policy=DefaultCookiePolicy(allowed_domains=[]))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=100)
    return httpx.AsyncClient(cookies=no_cookies, limits=limits, trust_env=False)


@dataclass(frozen=True, kw_only=True)
class HttpReply:
    """An HTTP answer. `text` is the body; invalid UTF-8 is replaced."""

    status: int
    text: str


class Exchange:
    """Makes requests, each to a checked address; follows no redirects.

    Args:
        http: The shared client, which stays open.
        hosts: The hosts that may be called.
        limits: The limit for the size of answers. The caller limits the time.
    """

    def __init__(self, http: httpx.AsyncClient, *, hosts: AllowedHosts, limits: ToolLimits) -> None:
        self._http = http
        self._hosts = hosts
        self._limits = limits

    async def ask(self, method: str, place: Place, content: bytes = b"") -> HttpReply:
        """Send one request and return the answer.

        Raises:
            EndpointError: The place may not be called, or there was no usable answer.
        """
        *others, last = await self._hosts.addresses(place)
        for address in others:
            try:
                return await self._sent(method, place, address, content, self._limits.detour_s)
            except _NotConnectedError:
                continue
        try:
            return await self._sent(method, place, last, content, self._limits.timeout_s)
        except _NotConnectedError:
            raise _unreachable(place) from None

    async def _sent(
        self, method: str, place: Place, address: str, content: bytes, connect_s: float
    ) -> HttpReply:
        try:
            request = _request(method, place, address, content, connect_s)
            response = await self._http.send(request, stream=True, follow_redirects=False)
            try:
                return await self._read(response, place)
            finally:
                await response.aclose()
        except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
            raise _NotConnectedError from exc
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as exc:
            raise _unreachable(place) from exc

    async def _read(self, response: httpx.Response, place: Place) -> HttpReply:
        if response.is_redirect or 300 <= response.status_code < 400:
            raise EndpointError(
                Code.REDIRECT,
                f"the tools at {place.netloc!r} redirect elsewhere, which is not followed",
                status=response.status_code,
            )
        if response.headers.get("content-encoding", "identity").strip().lower() != "identity":
            raise EndpointError(
                Code.PROTOCOL,
                f"the tools at {place.netloc!r} sent a compressed answer, which is not read",
                status=response.status_code,
            )
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > self._limits.max_bytes:
                raise EndpointError(
                    Code.TOO_LARGE,
                    f"the tools at {place.netloc!r} sent more than {self._limits.max_bytes} bytes;"
                    " ask for less",
                    status=response.status_code,
                )
        return HttpReply(status=response.status_code, text=body.decode(errors="replace"))


class _NotConnectedError(Exception):
    pass


def _request(
    method: str, place: Place, address: str, content: bytes, connect_s: float
) -> httpx.Request:
    """Build a request to an address that keeps the host name, for the server and for TLS.

    It is not built by the client, whose cookies and headers are shared by conversations.
    """
    headers = {**HEADERS, "Host": place.netloc}
    if content:
        headers["Content-Type"] = "application/json"
    url = replace(place, host=address).url()
    extensions = {"sni_hostname": place.host, "timeout": {"connect": connect_s}}
    return httpx.Request(method, url, headers=headers, content=content, extensions=extensions)


def _unreachable(place: Place) -> EndpointError:
    return EndpointError(Code.UNREACHABLE, f"the tools at {place.netloc!r} cannot be reached")
