"""ToolOpener: opens the tools at an address and lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from purple_agent.case import ToolProvider, ToolSpec
from purple_agent.toolbox.failures import Code, EndpointError
from purple_agent.toolbox.http import HttpTools, Pause
from purple_agent.toolbox.limits import ToolLimits
from purple_agent.toolbox.places import Place, read_place

if TYPE_CHECKING:
    import httpx

    from purple_agent.toolbox.allowed import AllowedHosts

_PLAIN_ENDS = (Code.STATUS, Code.PROTOCOL, Code.REDIRECT)
"""The errors that mean that a server speaks another protocol."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A provider and its tools. The receiver closes it."""

    tools: ToolProvider
    specs: tuple[ToolSpec, ...]
    notes: tuple[str, ...] = ()


Opener = Callable[[str, str], Awaitable[Opened]]
"""Opens the tools at an address for a session id.

Raises:
    ToolsUnavailableError: They cannot be opened; the message may be shown to the caller.
"""


class ToolOpener:
    """Opens tools over HTTP, by the plain protocol or by MCP.

    An address that ends in `/mcp` is asked for a plain listing first, which an MCP server rejects
    cheaply; without one, MCP is used.

    Args:
        http: The client of all conversations, which stays open.
        hosts: The hosts that may be called.
        limits: Limits for sizes and times.
        pause: Waits before a retry.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        *,
        hosts: AllowedHosts,
        limits: ToolLimits | None = None,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._http = http
        self._hosts = hosts
        self._limits = limits or ToolLimits()
        self._pause = pause

    async def __call__(self, endpoint: str, session_id: str) -> Opened:
        """Open the tools at an address.

        Raises:
            EndpointError: They cannot be opened.
        """
        place = read_place(endpoint)
        self._hosts.check(place)
        path = place.path.rstrip("/")
        if not path.endswith("/mcp"):
            return await self._plain(place, session_id)
        try:
            return await self._plain(replace(place, path=path.removesuffix("/mcp")), session_id)
        except EndpointError as error:
            if error.code not in _PLAIN_ENDS:
                raise
        return await self._mcp(place)

    async def _plain(self, place: Place, session_id: str) -> Opened:
        tools = HttpTools(
            place,
            session_id=session_id,
            http=self._http,
            hosts=self._hosts,
            limits=self._limits,
            pause=self._pause,
        )
        return Opened(tools=tools, specs=tuple(await tools.specs()), notes=tools.notes)

    async def _mcp(self, place: Place) -> Opened:
        # Imported late: the SDK is slow to import, and most conversations do not need it.
        from purple_agent.toolbox.mcp_client import McpTools

        tools = McpTools(place, hosts=self._hosts, limits=self._limits)
        try:
            return Opened(tools=tools, specs=tuple(await tools.specs()), notes=tools.notes)
        except BaseException:
            await tools.aclose()
            raise
