"""SecondLoop: an event loop in a thread of its own, for work that must not hold up the first.

An evaluation computes for some milliseconds at a time: scoring, graphs, JSON. Fifty of them in the
loop that serves requests would make everybody wait for all fifty; here the first loop gets its turn
from the interpreter every few milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Awaitable, Callable
from typing import Self, TypeVar

T = TypeVar("T")

logger = logging.getLogger(__name__)


class SecondLoop:
    """Runs coroutines in its own thread, between entering and leaving it as a context."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        """Start the thread."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=_turn, args=(self._loop,), name=self._name, daemon=True
        )
        self._thread.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the thread. What still runs in it is cancelled."""
        loop, self._loop = self._opened, None
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_cancel_all(), loop))
        loop.call_soon_threadsafe(loop.stop)
        await asyncio.to_thread(self._thread.join)
        loop.close()

    @property
    def _opened(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            msg = f"the event loop {self._name!r} is not running"
            raise RuntimeError(msg)
        return self._loop

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, which is called, and awaited, in the other loop.

        When this is cancelled the work is, and has ended when the cancellation goes on.
        """
        here, there = asyncio.get_running_loop(), self._opened
        ended: asyncio.Future[asyncio.Task[T]] = here.create_future()
        begun: list[asyncio.Task[T]] = []

        def settle(task: asyncio.Task[T]) -> None:
            if not ended.done():
                ended.set_result(task)

        def begin() -> None:
            task = there.create_task(_awaited(work))
            task.add_done_callback(lambda done: here.call_soon_threadsafe(settle, done))
            begun.append(task)

        def stop() -> None:
            begun[0].cancel()

        there.call_soon_threadsafe(begin)
        try:
            task = await asyncio.shield(ended)
        except asyncio.CancelledError:
            there.call_soon_threadsafe(stop)
            await asyncio.wait({ended})
            with contextlib.suppress(asyncio.CancelledError, Exception):
                ended.result().result()  # what it came to is of no interest any more
            raise
        try:
            return task.result()
        except SystemExit as error:
            msg = f"the work tried to end the program: {error!r}"
            raise RuntimeError(msg) from error


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    """Run the loop until it is stopped: asyncio would let one task that exits end it for all."""
    while True:
        try:
            loop.run_forever()
        except SystemExit as error:
            logger.warning("a task tried to end the program: %r", error)
        else:
            return


async def _awaited(work: Callable[[], Awaitable[T]]) -> T:
    return await work()


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.get_running_loop().shutdown_asyncgens()
    await asyncio.get_running_loop().shutdown_default_executor()
