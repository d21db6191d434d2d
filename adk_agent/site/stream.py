"""EventStream: a running evaluation as server-sent events."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.types import Receive, Scope, Send

from adk_agent.core.errors import GreenroomError
from adk_agent.site.live import LiveReader

LOOK_INTERVAL_S = 0.25
MOST_STREAMS = 32
"""Streams that are open at a time."""
PATIENCE_S = 30.0
"""Seconds that a client may take to read what was sent."""
_HEARTBEAT_LOOKS = 60
"""Looks without news, after which a comment finds out whether anybody still reads."""


@dataclass(eq=False)
class Streams:
    """The open streams of a site."""

    open: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the site ends."""

    @property
    def are_full(self) -> bool:
        """True while no further stream may be opened."""
        return self.open >= MOST_STREAMS


class EventStream:
    """Sends one client what happens in a run, until the run ends or the client leaves.

    Nothing is queued: what a slow client has not read yet stays on disk, and one that reads nothing
    is left after `patience_s`.

    Args:
        new_reader: Makes what reads the run.
        streams: Those of the site.
        patience_s: Seconds that the client may take to read.
    """

    def __init__(
        self,
        new_reader: Callable[[], LiveReader],
        streams: Streams,
        *,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._new_reader = new_reader
        self._streams = streams
        self._patience_s = patience_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        del scope
        self._streams.open += 1
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_when_left, receive, tasks.cancel_scope)
                # A client that reads nothing cannot be told so either.
                with contextlib.suppress(TimeoutError):
                    await self._send_all(send)
                tasks.cancel_scope.cancel()
        finally:
            self._streams.open -= 1

    async def _send_all(self, send: Send) -> None:
        headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        reader = await anyio.to_thread.run_sync(self._new_reader)
        await self._send(send, encoded("begin", {}))
        quiet = 0
        while not self._streams.stopping.is_set():
            try:
                events = await anyio.to_thread.run_sync(reader.new)
            except GreenroomError as error:
                events, reader.has_ended = [("problem", {"message": str(error)})], True
            quiet = 0 if events else quiet + 1
            if events:
                await self._send(send, b"".join(encoded(*each) for each in events))
            elif quiet % _HEARTBEAT_LOOKS == 0:
                await self._send(send, b": still here\n\n")
            if reader.has_ended:
                await self._send(send, encoded("end", {}))
                break
            with anyio.move_on_after(LOOK_INTERVAL_S):
                await self._streams.stopping.wait()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, body: bytes) -> None:
        with anyio.fail_after(self._patience_s):
            await send({"type": "http.response.body", "body": body, "more_body": True})


async def _cancel_when_left(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def encoded(name: str, values: dict[str, Any]) -> bytes:
    """Return one event as the wire has it; JSON in ASCII has no line's end."""
    return f"event: {name}\ndata: {json.dumps(values)}\n\n".encode("ascii")
