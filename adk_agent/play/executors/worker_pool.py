"""WorkerPool: workers that may die, and what then becomes of their trials. Knows no Ray."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol, Self

from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord

logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""Workers that a trial may cost while they play nothing else, before it is given up; and machines."""


class WorkerLostError(Exception):
    """A worker is gone, or did not start. What it was playing has to be played again."""


class HostLostError(WorkerLostError):
    """The machine of a worker is gone or out of reach, and so are all its workers."""


class NoRoomError(WorkerLostError):
    """A worker did not start, because the cluster has no room for it at present."""


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
    """A worker that is ready; `busy` counts the trials that it is given."""

    worker: Worker
    busy: int = 0
    is_reserved: bool = False
    """For one trial, which is to be played alone."""


class WorkerPool:
    """A number of workers. A dead one is replaced, and its trials are played again by others.

    Of several trials that a dead worker was playing one may have killed it. Each of them is played
    alone from then on, so that only the one that kills its workers is given up. Where the whole
    machine is gone, no trial is suspected.

    Nobody waits for a worker that starts while another is ready.

    Args:
        spawn: Starts a worker; raises where that cannot be done.
        size: How many.
    """

    def __init__(self, spawn: Callable[[], Awaitable[Worker]], size: int) -> None:
        self._spawn = spawn
        self._size = size
        self._slots: list[_Slot] = []
        self._starting: set[asyncio.Task[None]] = set()
        self._why_empty = "no worker was started"
        self._changed = asyncio.Event()
        self.warnings: tuple[str, ...] = ()
        """The workers that did not start, and why."""

    async def __aenter__(self) -> Self:
        """Start the workers and wait for them; do without those that do not start.

        Raises:
            WorkerLostError: None of them started.
        """
        for _ in range(self._size):
            self._begin(self._start())
        try:
            await asyncio.wait(self._starting)
        except BaseException:
            await self.aclose()
            raise
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
                as many machines, or there are none.
            TrialBrokeError: A worker raised something.
        """
        lost, hosts, alone = 0, 0, False
        while True:
            async with self._slot(alone=alone) as slot:
                try:
                    return await slot.worker.play(job)
                except HostLostError:
                    self._replace(slot)
                    hosts += 1
                    if hosts == ATTEMPTS:
                        raise
                except WorkerLostError:
                    is_first = self._replace(slot)  # to notice that the worker is dead
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
        while self._slots or self._starting:
            free = [slot for slot in self._slots if not slot.is_reserved]
            if free:
                return min(free, key=lambda each: each.busy)
            await self._changed.wait()
        raise WorkerLostError(self._why_empty)

    def _wake_waiting(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    def _replace(self, slot: _Slot) -> bool:
        """Start another worker for one that is lost; tell whether that was not known."""
        if slot not in self._slots:
            return False
        self._slots.remove(slot)
        self._begin(self._start(patiently=True))
        return True

    def _begin(self, start: Coroutine[None, None, None]) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            self._starting.discard(task)
            self._wake_waiting()

        task = asyncio.ensure_future(start)
        self._starting.add(task)
        task.add_done_callback(ended)

    async def _start(self, *, patiently: bool = False) -> None:
        """Start a worker; if `patiently`, try on without room for it while another one is there."""
        is_open = True
        while is_open:
            is_open = False
            try:
                worker = await self._spawn()
            except WorkerLostError as error:
                self._why_empty = str(error)
                is_open = patiently and isinstance(error, NoRoomError) and bool(self._slots)
            except Exception as error:
                # Whatever it is, the other workers go on, and so does the run.
                logger.exception("a worker could not be started")
                self._why_empty = f"a worker could not be started: {type(error).__name__}: {error}"
            else:
                self._slots.append(_Slot(worker))

    async def aclose(self) -> None:
        """End all workers. May be called again."""
        slots, self._slots = self._slots, []  # so that none of them is replaced
        starting = tuple(self._starting)
        for task in starting:
            task.cancel()
        if starting:
            await asyncio.wait(starting)
        slots += self._slots
        self._slots = []
        self._wake_waiting()
        await asyncio.gather(*(slot.worker.aclose() for slot in slots))
