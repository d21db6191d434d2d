"""Background: work that continues after a reply, awaited before the process ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

logger = logging.getLogger(__name__)

GRACE_S = 10.0
"""Seconds that work may still take at shutdown."""


class Background:
    """A set of tasks. An error in one is logged and does not affect the others."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, object], *, name: str) -> None:
        """Start some work and keep it alive until it is done. `name` is for the log."""
        task = asyncio.create_task(_logged(work, name), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def run(self, work: Coroutine[Any, Any, Result], *, name: str) -> asyncio.Task[Result]:
        """Start some work for a caller to await; it continues even if the caller stops waiting."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settle(self) -> None:
        """Wait until no task is running, including tasks started meanwhile."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks))

    async def aclose(self, *, grace_s: float = GRACE_S) -> None:
        """Wait for running tasks, and cancel those that take longer than `grace_s`."""
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
