"""HeadWatch: notices that the head of a cluster is gone. Knows no Ray."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from adk_agent.play.executors.worker_pool import WorkerLostError

T = TypeVar("T")

LOOK_EVERY_S = 3.0
LOOK_TIMEOUT_S = 3.0
MISSES = 6
"""Looks in a row without an answer after which the head is lost: 18 s where connections are refused,
36 s where nothing answers."""


class HeadWatch:
    """Connects to a head again and again, and ends what waits for its cluster once it is lost.

    Args:
        address: Of the head, as host:port; None: it is on this machine, and lives as long.
        every_s: Seconds between two looks.
    """

    def __init__(self, address: str | None, *, every_s: float = LOOK_EVERY_S) -> None:
        self._address = address
        self._every_s = every_s
        self._lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Watch while the block lasts."""
        task = asyncio.ensure_future(self._watch())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def result(self, awaitable: Awaitable[T]) -> T:
        """Return what `awaitable` comes to.

        Raises:
            WorkerLostError: The head is lost, or was before.
        """
        answer = asyncio.ensure_future(awaitable)
        try:
            either: set[asyncio.Future[Any]] = {answer, self._lost}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise WorkerLostError(self._lost.result())
        finally:
            answer.cancel()

    async def answered(self) -> None:
        """Wait until the head answers: what is asked of one that does not blocks a thread of Ray.

        Raises:
            WorkerLostError: The head is lost, or was before.
        """
        await self.result(self._answered())

    async def _answered(self) -> None:
        while True:
            if await self._silence() is None:
                return
            await asyncio.sleep(self._every_s)

    async def _watch(self) -> None:
        misses = 0
        while misses < MISSES:
            await asyncio.sleep(self._every_s)
            why = await self._silence()
            misses = 0 if why is None else misses + 1
        self._lost.set_result(
            f"the head of the Ray cluster at {self._address!r} is gone ({why}): start the cluster "
            "again, then greenroom resume"
        )

    async def _silence(self) -> str | None:
        """Return why the head does not answer; None: it does."""
        if self._address is None:
            return None
        try:
            async with asyncio.timeout(LOOK_TIMEOUT_S):
                await greet(self._address)
        except (OSError, TimeoutError) as error:
            return str(error) or "no answer"
        return None


async def greet(address: str) -> None:
    """Connect to an address, as host:port, and close the connection.

    Raises:
        OSError: Nobody listens there.
    """
    host, _, port = address.rpartition(":")
    _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
