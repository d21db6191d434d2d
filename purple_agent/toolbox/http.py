"""HttpTools: tools behind the plain HTTP protocol.

`GET {endpoint}/mcp/tools?session_id=S` lists them, `POST {endpoint}/mcp` with
`{"tool", "params", "session_id"}` calls one. Errors are `{"error"}`, even with status 200.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from purple_agent.case import ToolCall, ToolResult, ToolSpec
from purple_agent.json_values import read_json
from purple_agent.toolbox.exchange import Exchange, HttpReply
from purple_agent.toolbox.failures import (
    CallFailure,
    Cause,
    Code,
    EndpointError,
    failure_of,
    no_answer,
    short,
)
from purple_agent.toolbox.payload import answer_of
from purple_agent.toolbox.repair import writes
from purple_agent.toolbox.specs import Listing, read_listing

if TYPE_CHECKING:
    import httpx

    from purple_agent.toolbox.allowed import AllowedHosts
    from purple_agent.toolbox.limits import ToolLimits
    from purple_agent.toolbox.places import Place

Pause = Callable[[float], Awaitable[None]]
"""Waits for a number of seconds."""


class HttpTools:
    """The tools of one conversation at one endpoint.

    Args:
        place: The endpoint.
        session_id: Sent with every request.
        http: The shared client, which stays open.
        hosts: The hosts that may be called.
        limits: Limits for sizes and times.
        pause: Waits before a retry.
    """

    def __init__(
        self,
        place: Place,
        *,
        session_id: str,
        http: httpx.AsyncClient,
        hosts: AllowedHosts,
        limits: ToolLimits,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._place = place
        self._session_id = session_id
        self._exchange = Exchange(http, hosts=hosts, limits=limits)
        self._limits = limits
        self._pause = pause
        self._listing = Listing()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes about tools that the last listing left out."""
        return self._listing.notes

    async def specs(self) -> Sequence[ToolSpec]:
        """List the tools.

        Raises:
            EndpointError: They cannot be listed.
        """
        reply = await self._asked("GET", self._tools_place(), reads=True)
        if reply.status != 200:
            raise EndpointError(
                Code.STATUS,
                f"the tools at {self._place.netloc!r} answered with status {reply.status}",
                status=reply.status,
            )
        try:
            self._listing = read_listing(_listed(read_json(reply.text)))
        except ValueError as exc:
            raise EndpointError(
                Code.PROTOCOL,
                f"the answer of {self._place.netloc!r} is not a list of tools",
                status=reply.status,
            ) from exc
        return self._listing.specs

    async def call(self, call: ToolCall) -> ToolResult:
        """Make a call. Reads are retried if there was no answer, writes never."""
        body = {"tool": call.name, "params": call.arguments, "session_id": self._session_id}
        try:
            content = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError):
            return CallFailure(text="the arguments are not JSON", cause=Cause.UNSENT)
        if len(content) > self._limits.max_bytes:
            text = f"the arguments take more than {self._limits.max_bytes} bytes"
            return CallFailure(text=text, cause=Cause.UNSENT)
        place = replace(self._place, path=self._below("/mcp"))
        try:
            reply = await self._asked(
                "POST", place, content, reads=not writes(call.name, self._listing.specs)
            )
        except EndpointError as error:
            return failure_of(error)
        return _result(reply)

    async def aclose(self) -> None:
        """Do nothing, because the client is shared."""

    async def _asked(
        self, method: str, place: Place, content: bytes = b"", *, reads: bool
    ) -> HttpReply:
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                return await self._patiently(method, place, content, reads=reads)
        except TimeoutError as exc:
            raise no_answer(place.netloc, within_s=self._limits.timeout_s) from exc

    async def _patiently(
        self, method: str, place: Place, content: bytes, *, reads: bool
    ) -> HttpReply:
        for attempt in range(self._limits.max_retries if reads else 0):
            try:
                reply = await self._exchange.ask(method, place, content)
                if reply.status < 500:
                    return reply
            except EndpointError as error:
                if error.code is not Code.UNREACHABLE:
                    raise
            await self._pause(self._limits.retry_wait_s * 2**attempt)
        return await self._exchange.ask(method, place, content)

    def _tools_place(self) -> Place:
        session = urlencode({"session_id": self._session_id})
        query = f"{self._place.query}&{session}" if self._place.query else session
        return replace(self._place, path=self._below("/mcp/tools"), query=query)

    def _below(self, path: str) -> str:
        return self._place.path.rstrip("/") + path


def _listed(body: Any) -> Any:
    """Return the list in a listing: the value of `tools`, or the listing itself."""
    return body.get("tools") if isinstance(body, dict) else body


def _result(reply: HttpReply) -> ToolResult:
    if 200 <= reply.status < 300:
        return answer_of(reply.text)
    answer = answer_of(reply.text)
    said = answer.text if answer.failed else short(reply.text)
    # A server that fails may have done the work; one that rejects the call has not started it.
    cause = Cause.TOOL if 400 <= reply.status < 500 else Cause.WAY
    return CallFailure(text=f"status {reply.status}: {said}".strip(" :"), cause=cause)
