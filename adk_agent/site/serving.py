"""serve_site: the site behind a socket, until Ctrl-C."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from adk_agent.site.stream import Streams

CLOSE_TIMEOUT_S = 2
MOST_CONNECTIONS = 200


class _Server(uvicorn.Server):
    """Ends the open streams before it waits for connections, and says when it can be reached."""

    def __init__(
        self, config: uvicorn.Config, streams: Streams, on_ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._streams = streams
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen."""
        await super().startup(sockets=sockets)
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what is open."""
        self._streams.stopping.set()
        await super().shutdown(sockets)


def serve_site(
    app: Any, listener: socket.socket, streams: Streams, *, on_ready: Callable[[], None]
) -> None:
    """Serve until SIGTERM, or until interrupted.

    Args:
        app: The site.
        listener: A bound socket.
        streams: The site's streams.
        on_ready: Called once it can be reached.

    Raises:
        KeyboardInterrupt: It was interrupted.
    """
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,  # addresses may hold the token
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=CLOSE_TIMEOUT_S,
    )
    _Server(config, streams, on_ready).run(sockets=[listener])
