"""WorkerPool: workers that may die, and what then becomes of their trials. Knows no Ray."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, Self

from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord

logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""Workers that a trial may cost while they play nothing else, before it is given up."""


class WorkerLostError(Exception):
    """A worker is gone, or did not start. What it was playing has to be played again."""


class TrialBrokeError(Exception):
    """A trial broke in a worker, which goes on. It would break again in another one."""


class Worker(Protocol):
    """Plays trials, any number at once."""

    async def play(self, job: TrialJob) -> TrialRecord:
        """Return the trial's record.

        Raises:
            WorkerLostError: The worker is gone.
            TrialBrokeError: It raised something.
        """
        ...

    async def aclose(self) -> None:
        """End the worker."""
        ...


@dataclass(eq=False)
class _Slot:
    """A place for a worker; `busy` counts the trials that it is given."""

    worker: asyncio.Task[Worker]
    busy: int = 0
    is_reserved: bool = False
    """For one trial, which is to be played alone."""


class WorkerPool:
    """A number of workers. A dead one is replaced, and its trials are played again by others.

    Of several trials that a dead worker was playing one may have killed it. Each of them is played
    alone from then on, so that only the one that kills its workers is given up.

    Args:
        spawn: Starts a worker; raises where that cannot be done.
        size: How many.
    """

    def __init__(self, spawn: Callable[[], Awaitable[Worker]], size: int) -> None:
        self._spawn = spawn
        self._size = size
        self._slots: list[_Slot] = []
        self._why_empty = "no worker was started"
        self._changed = asyncio.Event()
        self.warnings: tuple[str, ...] = ()
        """The workers that did not start, and why."""

    async def __aenter__(self) -> Self:
        """Start the workers and wait for them; do without those that do not start.

        Raises:
            WorkerLostError: None of them started.
        """
        self._slots = [_Slot(self._spawned()) for _ in range(self._size)]
        try:
            await asyncio.wait([slot.worker for slot in self._slots])
        except BaseException:
            await self.aclose()
            raise
        for slot in tuple(self._slots):
            self._drop_if_empty(slot)
        if not self._slots:
            raise WorkerLostError(self._why_empty)
        missing = self._size - len(self._slots)
        if missing:
            self.warnings = (f"{missing} of {self._size} workers missing: {self._why_empty}",)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End all workers."""
        await self.aclose()

    async def play(self, job: TrialJob) -> TrialRecord:
        """Return the trial's record, played by the worker that has the least to do.

        Raises:
            WorkerLostError: `ATTEMPTS` workers were lost while they played it and nothing else, or
                there are none.
            TrialBrokeError: A worker raised something.
        """
        lost, alone = 0, False
        while True:
            async with self._slot(alone=alone) as slot:
                task = slot.worker
                try:
                    # Other trials wait for the same worker: to cancel this one must not stop it.
                    worker = await asyncio.shield(task)
                except WorkerLostError:
                    self._drop_if_empty(slot)
                    continue  # with one slot less
                try:
                    return await worker.play(job)
                except WorkerLostError:
                    is_first = slot.worker is task  # to notice that the worker is dead
                    if is_first and slot in self._slots:
                        slot.worker = self._spawned()
                    if slot.busy > 1 or not is_first:
                        alone = True
                        continue
                    lost += 1
                    if lost == ATTEMPTS:
                        raise

    @asynccontextmanager
    async def _slot(self, *, alone: bool) -> AsyncIterator[_Slot]:
        """Yield a slot for one more trial; if `alone`, one that plays nothing else meanwhile."""
        slot = await self._free_slot()
        slot.is_reserved = alone
        try:
            while alone and slot.busy:
                await self._changed.wait()
            slot.busy += 1
            try:
                yield slot
            finally:
                slot.busy -= 1
        finally:
            if alone:
                slot.is_reserved = False
            self._wake_waiting()

    async def _free_slot(self) -> _Slot:
        while self._slots:
            free = [slot for slot in self._slots if not slot.is_reserved]
            if free:
                return min(free, key=lambda each: each.busy)
            await self._changed.wait()
        raise WorkerLostError(self._why_empty)

    def _wake_waiting(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _spawned(self) -> asyncio.Task[Worker]:
        return asyncio.ensure_future(self._started())

    async def _started(self) -> Worker:
        try:
            return await self._spawn()
        except WorkerLostError:
            raise
        except Exception as error:
            # Whatever it is, the other workers go on, and so does the run.
            logger.exception("a worker could not be started")
            raise WorkerLostError(
                f"a worker could not be started: {type(error).__name__}: {error}"
            ) from error

    def _drop_if_empty(self, slot: _Slot) -> None:
        """Remove a slot whose worker did not start."""
        if not slot.worker.done() or slot.worker.cancelled():
            return
        error = slot.worker.exception()
        if error is not None and slot in self._slots:
            self._slots.remove(slot)
            self._why_empty = str(error)

    async def aclose(self) -> None:
        """End all workers. May be called again."""
        slots, self._slots = self._slots, []
        self._wake_waiting()
        await asyncio.gather(*map(_stop, slots))


async def _stop(slot: _Slot) -> None:
    slot.worker.cancel()  # does nothing to a worker that has started
    await asyncio.wait([slot.worker])
    if not slot.worker.cancelled() and slot.worker.exception() is None:
        await slot.worker.result().aclose()
