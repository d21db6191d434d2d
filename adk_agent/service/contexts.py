"""CallContextBuilder: what a handler learns of the caller and the extensions of a request."""

from __future__ import annotations

from a2a.extensions.common import get_requested_extensions
from a2a.server.context import ServerCallContext
from a2a.server.routes.common import DefaultServerCallContextBuilder
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from adk_agent.service.history import note_history
from tau_bridge.a2a.extensions import EXTENSIONS_HEADER, LEGACY_EXTENSIONS_HEADER

_PRIVATE_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie"})
HEADER_SPELLINGS = (EXTENSIONS_HEADER, LEGACY_EXTENSIONS_HEADER)


class CallContextBuilder(DefaultServerCallContextBuilder):
    """Reads the extensions in both spellings of their header, whichever protocol is spoken."""

    def build(self, request: Request) -> ServerCallContext:
        """Build the context of one request. It holds no credentials."""
        context = super().build(request)
        context.state["headers"] = {
            name: value
            for name, value in context.state["headers"].items()
            if name not in _PRIVATE_HEADERS
        }
        note_history(request, context)
        context.requested_extensions |= requested_extensions(request.headers)
        return context


def requested_extensions(headers: Headers) -> set[str]:
    """Return the extension URIs that a client asks to activate."""
    values = [value for name in HEADER_SPELLINGS for value in headers.getlist(name)]
    return get_requested_extensions(values)


class ExtensionEcho:
    """Names the activated extensions in the answer, in each spelling that the request used.

    Args:
        app: What answers.
        supported: The extension URIs that the service activates on request.
    """

    def __init__(self, app: ASGIApp, supported: frozenset[str]) -> None:
        self._app = app
        self._supported = supported

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add to the head of its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        activated = ", ".join(sorted(requested_extensions(asked) & self._supported))

        async def sending(message: Message) -> None:
            if activated and message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in HEADER_SPELLINGS:
                    if name in asked:
                        headers[name] = activated
            await send(message)

        await self._app(scope, receive, sending)
