"""Background: work that goes on after a reply, awaited before the process ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

logger = logging.getLogger(__name__)

GRACE_S = 10.0
"""Seconds that work may still take once everything is being closed."""


class Background:
    """A set of tasks. What goes wrong in one is logged and harms no other."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, object], *, name: str) -> None:
        """Begin some work; the set keeps it alive until it is done. `name` is for the log."""
        task = asyncio.create_task(_logged(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def run(self, work: Coroutine[Any, Any, Result], *, name: str) -> asyncio.Task[Result]:
        """Begin some work that somebody waits for, and that goes on where they stop waiting."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settle(self) -> None:
        """Wait until nothing is under way, whatever is begun meanwhile included."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    async def aclose(self, *, grace_s: float = GRACE_S) -> None:
        """Wait for what is under way, and cancel what takes longer than `grace_s`."""
        try:
            async with asyncio.timeout(grace_s):
                await self.settle()
        except TimeoutError:
            late = tuple(self._tasks)
            logger.warning(
                "cancelled after %.0f s: %s", grace_s, ", ".join(sorted(t.get_name() for t in late))
            )
            for task in late:
                task.cancel()
            await asyncio.wait(late)


async def _logged(work: Coroutine[Any, Any, object], name: str) -> None:
    try:
        await work
    except Exception:
        logger.exception("background work failed: %s", name)
