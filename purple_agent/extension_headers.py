"""EitherHeader: reads the A2A extensions that a caller requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a.compat.v0_3.context_builders import V03ServerCallContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.routes.common import DefaultServerCallContextBuilder, ServerCallContextBuilder

if TYPE_CHECKING:
    from starlette.requests import Request


class EitherHeader(ServerCallContextBuilder):
    """Accepts both headers for extensions, whatever the protocol version of the call."""

    def __init__(self) -> None:
        self._inner = V03ServerCallContextBuilder(DefaultServerCallContextBuilder())

    def build(self, request: Request) -> ServerCallContext:
        """Build the context of a call."""
        return self._inner.build(request)
