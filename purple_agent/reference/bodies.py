"""BodyLimit: reads request bodies up to a limit before passing them on."""

from __future__ import annotations

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY_BYTES = 4 * 2**20


class BodyLimit:
    """Refuses a POST whose body is larger than `MAX_BODY_BYTES` with 413.

    Args:
        app: The application, which gets every other request with its body in one piece.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body of a POST and pass the request on."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return
        if len(body) > MAX_BODY_BYTES:
            problem = f"The body has more than {MAX_BODY_BYTES} bytes."
            await JSONResponse({"error": problem}, status_code=413)(scope, receive, send)
            return
        await self._app(scope, replayed(body, receive), send)


async def read_body(receive: Receive) -> bytes | None:
    """Read a body, stopping soon after the limit; None if the client has disconnected."""
    chunks: list[bytes] = []
    size = 0
    more = True
    while more and size <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            return None
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        more = message.get("more_body", False)
    return b"".join(chunks)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a receiver that replays a body, then passes later messages through."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
