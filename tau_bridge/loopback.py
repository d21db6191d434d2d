"""Servers that the assessor itself runs while it plays: on loopback, unless set otherwise."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Generator
from typing import Any, Final

LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 1024
_SHUTDOWN_S: Final = 3
"""Seconds that calls in flight may go on when a server is closed."""


def listening_socket(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """Open a listening socket, on a free port of loopback by default.

    It names its protocol, because asyncio turns Nagle's algorithm off only on sockets that do: with
    it on, an answer in two writes comes 40 ms late.

    Raises:
        OSError: The address cannot be listened on.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if port:
            # Otherwise connections of a run before would keep the port for a minute.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


class BackgroundServer:
    """An ASGI application, served by a task of this event loop until it is closed.

    The socket listens already, so a call that comes before the server reads it is only early.

    Args:
        app: The application.
        listener: Where it is served.
        keep_alive_s: How long an idle connection is kept.
    """

    def __init__(self, app: Any, listener: socket.socket, *, keep_alive_s: int = 5) -> None:
        import uvicorn  # takes a tenth of a second: only runs that need a server pay it

        class Server(uvicorn.Server):
            """Leaves signals to the program."""

            @contextlib.contextmanager
            def capture_signals(self) -> Generator[None]:
                yield

        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="critical",
            access_log=False,  # addresses hold tokens
            interface="asgi3",
            lifespan="off",
            ws="none",
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=keep_alive_s,
            timeout_graceful_shutdown=_SHUTDOWN_S,
        )
        self._server = Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[listener]))

    async def aclose(self) -> None:
        """Give up what is in flight, and close every socket."""
        self._server.should_exit = True
        await self._serving
