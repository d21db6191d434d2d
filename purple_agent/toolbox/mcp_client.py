"""McpTools: tools behind a Model Context Protocol server, over streamable HTTP.

Imported late, since the SDK is heavy. A session must be opened and closed by the same task, but the
messages of a conversation arrive in many tasks, so a separate task holds the session open.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, CallToolResult, TextContent

from purple_agent.case import ToolCall, ToolResult, ToolSpec
from purple_agent.json_values import MAX_DEPTH, depth_exceeds
from purple_agent.toolbox.failures import (
    CallFailure,
    Cause,
    Code,
    EndpointError,
    failure_of,
    no_answer,
    short,
)
from purple_agent.toolbox.mcp_transport import McpTransport
from purple_agent.toolbox.payload import result_of
from purple_agent.toolbox.repair import writes
from purple_agent.toolbox.specs import MAX_TOOLS, Listing, read_listing

if TYPE_CHECKING:
    from purple_agent.toolbox.allowed import AllowedHosts
    from purple_agent.toolbox.limits import ToolLimits
    from purple_agent.toolbox.places import Place

MAX_PAGES = 20
CLOSING_S = 5.0
"""Timeout for closing a session with a server."""

_REFUSED = frozenset({INVALID_PARAMS, METHOD_NOT_FOUND})
"""Codes of errors that mean that a call was not carried out."""

Value = TypeVar("Value")


class _Link:
    """One session with a server, held open by a separate task."""

    def __init__(self, place: Place, *, hosts: AllowedHosts, limits: ToolLimits) -> None:
        self.transport = McpTransport(hosts=hosts, limits=limits)
        self._url = place.url()
        self._max_bytes = limits.max_bytes
        self._client: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._holder = asyncio.create_task(self._hold())

    @property
    def is_open(self) -> bool:
        return not self._holder.done()

    async def client(self) -> Client:
        """Return the client, once its session is open."""
        return await asyncio.shield(self._client)

    async def aclose(self) -> None:
        self._leave.set()
        is_greeted = self._client.done()
        done, _ = await asyncio.wait({self._holder}, timeout=CLOSING_S if is_greeted else 0)
        if not done:
            self._holder.cancel()
            await asyncio.wait({self._holder})

    async def _hold(self) -> None:
        try:
            await self._session()
        except Exception as exc:  # noqa: BLE001 - the SDK lets groups of anything escape
            self._fail(exc)
        finally:
            self._fail(ConnectionError("the session was closed"))

    def _fail(self, exc: Exception) -> None:
        if not self._client.done():
            self._client.set_exception(exc)
            # Retrieve it here, since no caller may be waiting.
            self._client.exception()

    async def _session(self) -> None:
        http = httpx2.AsyncClient(transport=self.transport, timeout=None)
        async with http:
            streams = streamable_http_client(
                self._url, http_client=http, max_sse_event_size=self._max_bytes
            )
            async with Client(streams, cache=None) as client:
                self._client.set_result(client)
                await self._leave.wait()


class McpTools:
    """The tools of one conversation at one MCP server.

    Args:
        place: The server's endpoint.
        hosts: The hosts that may be called.
        limits: Limits for sizes and times.
    """

    def __init__(self, place: Place, *, hosts: AllowedHosts, limits: ToolLimits) -> None:
        self._place = place
        self._hosts = hosts
        self._limits = limits
        self._listing = Listing()
        self._link: _Link | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes about tools that the last listing left out."""
        return self._listing.notes

    async def specs(self) -> Sequence[ToolSpec]:
        """List the tools.

        Raises:
            EndpointError: They cannot be listed.
        """
        try:
            tools = await self._patiently(_list_tools, reads=True)
        except _SaidNoError as exc:
            raise EndpointError(
                Code.PROTOCOL, f"{self._place.netloc!r} does not list tools as MCP servers do"
            ) from exc
        self._listing = read_listing(tools)
        return self._listing.specs

    async def call(self, call: ToolCall) -> ToolResult:
        """Make a call. Reads are retried if there was no answer, writes never."""

        async def ask(client: Client) -> CallToolResult:
            return await client.call_tool(call.name, dict(call.arguments))

        try:
            return _read(
                await self._patiently(ask, reads=not writes(call.name, self._listing.specs))
            )
        except EndpointError as error:
            return failure_of(error)
        except _SaidNoError as exc:
            return CallFailure(text=str(exc), cause=exc.cause)

    async def aclose(self) -> None:
        """End the session and close the connections."""
        link, self._link = self._link, None
        if link is not None:
            await link.aclose()

    async def _patiently(self, ask: Callable[[Client], Awaitable[Value]], *, reads: bool) -> Value:
        for _ in range(self._limits.max_retries if reads else 0):
            try:
                return await self._asked(ask)
            except EndpointError as error:
                if error.code is not Code.UNREACHABLE:
                    raise
            except _SaidNoError as error:
                if error.cause is not Cause.WAY:
                    raise
        return await self._asked(ask)

    async def _asked(self, ask: Callable[[Client], Awaitable[Value]]) -> Value:
        """Make one request within the timeout, and map its errors."""
        link = self._opened()
        try:
            async with asyncio.timeout(self._limits.timeout_s):
                return await ask(await link.client())
        except TimeoutError as exc:
            await self.aclose()
            raise no_answer(self._place.netloc, within_s=self._limits.timeout_s) from exc
        except MCPError as exc:
            said = _SaidNoError(exc)
            if said.cause is Cause.TOOL:
                raise said from exc
            # The session may have ended, so the next request opens a new one.
            await self.aclose()
            raise link.transport.refusal or said from exc
        except Exception as exc:
            await self.aclose()
            raise link.transport.refusal or self._unusable() from exc

    def _opened(self) -> _Link:
        if self._link is None or not self._link.is_open:
            self._link = _Link(self._place, hosts=self._hosts, limits=self._limits)
        return self._link

    def _unusable(self) -> EndpointError:
        message = f"the answer of {self._place.netloc!r} does not follow the MCP protocol"
        return EndpointError(Code.PROTOCOL, message)


class _SaidNoError(Exception):
    """The server answered with a protocol error."""

    def __init__(self, error: MCPError) -> None:
        self.cause = Cause.TOOL if error.error.code in _REFUSED else Cause.WAY
        super().__init__(short(error.error.message) or "the server failed, and does not say why")


async def _list_tools(client: Client) -> list[Any]:
    tools: list[Any] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        # Keep annotations as the server sent them, without defaults for missing hints.
        tools += [
            tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools
        ]
        cursor = page.next_cursor
        if cursor is None or len(tools) > MAX_TOOLS:
            break
    return tools


def _read(result: CallToolResult) -> ToolResult:
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    text = "\n".join(texts)
    if result.is_error:
        return CallFailure(text=short(text) or "the tool failed, and does not say why")
    value = result.structured_content
    if value is None or depth_exceeds(value, MAX_DEPTH):
        return result_of(text)
    # Structured content must be an object, so servers wrap other values.
    if isinstance(value, dict) and set(value) == {"result"}:
        value = value["result"]
    if isinstance(value, str):
        return result_of(value)
    return ToolResult(text=text or json.dumps(value, ensure_ascii=False), value=value)
