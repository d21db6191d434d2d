"""Runs bundled agents in this process, on one event loop, until asked to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

import uvicorn

from purple_agent.server import build_app
from purple_agent.sockets import Listener

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from purple_agent.oracle import GoldScript
    from purple_agent.settings import ReferenceSettings

KEEP_ALIVE_S = 75
"""Seconds that an idle connection stays open: longer than clients keep theirs, so that no request
finds its connection closed."""
SHUTDOWN_S = 3
"""Seconds that requests in flight may take at shutdown."""


class _Server(uvicorn.Server):
    """A server that signals readiness and leaves signal handling to its owner.

    uvicorn's own handlers assume one server per process.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


async def serve(
    listeners: Sequence[Listener],
    *,
    stop: asyncio.Event,
    card_url: str | None = None,
    scripts: Mapping[str, GoldScript] | None = None,
    streaming: bool = False,
    settings: ReferenceSettings | None = None,
    apps: Sequence[tuple[Listener, ASGIApp]] = (),
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve an agent on each listener until `stop` is set.

    Args:
        listeners: From `purple_agent.sockets.listen`; each socket is closed at the end.
        stop: Set it to end gracefully; requests in flight get `SHUTDOWN_S` seconds.
        card_url: The address for the card, if not the socket's own. For one agent only.
        scripts: The oracle's gold scripts.
        streaming: See `purple_agent.server.build_app`.
        settings: The reference agent's settings.
        apps: Further applications to serve, such as the members of teams.
        on_ready: Called once, when all of them accept connections.
    """
    agents: list[tuple[Listener, ASGIApp]] = [
        (
            listener,
            build_app(
                listener.name,
                card_url=card_url or f"{listener.url}/",
                scripts=scripts,
                streaming=streaming,
                settings=settings,
            ),
        )
        for listener in listeners
    ]
    served = [(listener.sock, _server(app)) for listener, app in [*agents, *apps]]
    async with asyncio.TaskGroup() as group:
        for sock, server in served:
            group.create_task(server.serve(sockets=[sock]))
        for _, server in served:
            await server.ready.wait()
        on_ready()
        await stop.wait()
        for _, server in served:
            server.should_exit = True


def _server(app: ASGIApp) -> _Server:
    return _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_keep_alive=KEEP_ALIVE_S,
            timeout_graceful_shutdown=SHUTDOWN_S,
        )
    )


def stop_on_signals(stop: asyncio.Event, *signals: signal.Signals) -> None:
    """Set `stop` when one of the signals arrives. Call it inside the running loop."""
    loop = asyncio.get_running_loop()
    for number in signals:
        loop.add_signal_handler(number, stop.set)
