"""WireTools: the tools of a τ² conversation, which its first message describes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from purple_agent.case import ToolCall, ToolResult, ToolSpec
from purple_agent.toolbox.failures import CallFailure, Cause, Code, EndpointError
from purple_agent.toolbox.specs import Listing, read_listing
from purple_agent.wire import read_opening

LONGEST_KEPT = 200_000
"""Most characters of a list of tools to cache."""


def _listing(tools_text: str) -> Listing:
    """Read the tools of a first message, which are the same in all conversations of a domain."""
    return _kept(tools_text) if len(tools_text) <= LONGEST_KEPT else _read(tools_text)


@lru_cache(maxsize=64)
def _kept(tools_text: str) -> Listing:
    return _read(tools_text)


def _read(tools_text: str) -> Listing:
    return read_listing(json.loads(tools_text) if tools_text else [])


class WireTools:
    """Tools that are called by replying, so that `call` is never used.

    Args:
        text: The first message.
    """

    def __init__(self, text: str) -> None:
        opening = read_opening(text)
        self._is_opening = opening is not None
        self._listing = Listing() if opening is None else _listing(opening.tools_text)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes about tools that were left out."""
        return self._listing.notes

    async def specs(self) -> Sequence[ToolSpec]:
        """List the tools.

        Raises:
            EndpointError: The text is not a first message.
        """
        if not self._is_opening:
            raise EndpointError(Code.PROTOCOL, "the first message describes no tools")
        return self._listing.specs

    async def call(self, call: ToolCall) -> ToolResult:
        """Fail, because on this wire a call is a reply."""
        text = f"{call.name!r} is called by replying with the call"
        return CallFailure(text=text, cause=Cause.UNSENT)

    async def aclose(self) -> None:
        """Do nothing, because there is no connection."""
