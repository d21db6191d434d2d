"""The lifespan of an application in this process: its start-up and shutdown, run as servers do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from tau_bridge.errors import AgentUnreachableError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


@contextlib.asynccontextmanager
async def running(app: ASGIApp, *, name: str, timeout_s: float) -> AsyncGenerator[ASGIApp]:
    """Start an application, yield what answers its requests, and shut it down.

    An application without a lifespan is taken as it is.

    Args:
        app: The application.
        name: The name of the agent, for errors.
        timeout_s: The seconds that start-up and shutdown may take.

    Raises:
        AgentUnreachableError: Its start-up fails or takes too long.
    """
    import uvicorn  # takes a tenth of a second: only runs that need it pay it
    from uvicorn.lifespan.on import LifespanOn

    lifespan = LifespanOn(uvicorn.Config(app, interface="asgi3", lifespan="auto", log_config=None))
    try:
        async with asyncio.timeout(timeout_s):
            await lifespan.startup()
    except TimeoutError as exc:
        raise AgentUnreachableError(
            name, f"{name}: the start-up of its lifespan took longer than {timeout_s:g} s"
        ) from exc
    if lifespan.should_exit:
        raise AgentUnreachableError(
            name, f"{name}: the start-up of its lifespan failed; its log says why"
        )

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "state": dict(lifespan.state)}, receive, send)

    try:
        yield answering
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await lifespan.shutdown()
