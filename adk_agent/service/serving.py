"""serve: the service behind a socket, from the first card to the last farewell."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Iterable

import uvicorn
from a2a.types import AgentCard
from pydantic import SecretStr
from starlette.applications import Starlette

from adk_agent.core.redaction import redact_logs
from adk_agent.service.limits import RequestLimits, protocol_with
from adk_agent.service.loading_app import LoadingApp, Service

logger = logging.getLogger("uvicorn.error")
"""The server's own log, which is shown from INFO on."""

KEEP_ALIVE_S = 75
"""Seconds that an idle connection stays open: longer than clients keep theirs, so that none is closed
under a request. httpx keeps one for 5 s, which is also uvicorn's default."""
CLOSE_TIMEOUT_S = 2
"""Seconds for connections to close once the work has ended."""


class StoppingServer(uvicorn.Server):
    """Ends what runs before it closes connections, so that everybody hears how it ended."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, end the work, and close what is open."""
        for server in self.servers:
            server.close()
        await self._stop()
        await super().shutdown(sockets)


def serve(
    load: Callable[[], Service],
    listener: socket.socket,
    *,
    card: AgentCard,
    limits: RequestLimits,
    secrets: Iterable[SecretStr],
) -> None:
    """Serve until SIGTERM, or until interrupted.

    Args:
        load: Makes the service, in a thread, while its card is served already.
        listener: A bound socket.
        card: The service's card.
        limits: Bounds on requests.
        secrets: What no line of the log may show.

    Raises:
        KeyboardInterrupt: it was interrupted.
        GreenroomError: the service cannot start.
    """
    front = LoadingApp(card, load, on_failure=lambda: _end(server))
    server = StoppingServer(server_config(front.app, limits), front.stop)
    redact_logs(list(secrets))
    host, port = listener.getsockname()[:2]
    logger.info(
        "Greenroom listens on %s:%s; its card names %s",
        f"[{host}]" if ":" in host else host,
        port,
        card.supported_interfaces[0].url,
    )
    # uvicorn raises the signal that ended it once more: SIGTERM is how a service is meant to end.
    previous = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        server.run(sockets=[listener])
    finally:
        signal.signal(signal.SIGTERM, previous)
    if front.failure is not None:
        raise front.failure


def _end(server: uvicorn.Server) -> None:
    server.should_exit = True


def server_config(app: Starlette, limits: RequestLimits) -> uvicorn.Config:
    """Configure uvicorn to serve the application within the limits."""
    return uvicorn.Config(
        app,
        http=protocol_with(limits),
        ws="none",
        lifespan="on",
        log_level="info",
        access_log=False,  # addresses and queries may hold what nobody else should read
        server_header=False,
        limit_concurrency=limits.connections,
        h11_max_incomplete_event_size=limits.header_bytes,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=CLOSE_TIMEOUT_S,
    )
