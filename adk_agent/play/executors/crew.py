"""Crew: workers that may die, and what then becomes of what they were doing. Knows no Ray."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord

logger = logging.getLogger(__name__)

ATTEMPTS = 3
"""How many workers are lost to a trial that each of them played alone, before it is given up."""


class WorkerLostError(Exception):
    """A worker is gone, or did not start. What it was playing is to be played again."""


class TrialBrokeError(Exception):
    """A trial broke in a worker, which goes on. To begin it anew would break it again."""


class Worker(Protocol):
    """Plays trials, any number at once."""

    async def play(self, job: TrialJob) -> TrialRecord:
        """The trial's record.

        Raises:
            WorkerLostError: The worker is gone.
            TrialBrokeError: It raised something.
        """
        ...

    async def aclose(self) -> None:
        """End it."""
        ...


Hire = Callable[[], Awaitable[Worker]]
"""Starts a worker; raises where that cannot be done."""


class _NotBegunError(WorkerLostError):
    """The worker that was to play a trial is not there, so that the trial is not why."""


class _LostTogetherError(WorkerLostError):
    """A worker was lost that played several trials; any of them may be why."""


@dataclass(eq=False)
class _Seat:
    """A place for a worker; `busy` counts the trials that it is given."""

    worker: asyncio.Task[Worker]
    busy: int = 0
    is_reserved: bool = False
    """For one trial, which is to be played alone."""


class Crew:
    """A number of workers. A dead one is replaced; what it was playing is begun anew by another.

    Of several trials that a dead worker was playing one may have killed it. Each of them is played
    alone from then on, so that only the one that kills its workers is given up.

    Args:
        hire: Starts a worker.
        size: How many.
    """

    def __init__(self, hire: Hire, size: int) -> None:
        self._hire = hire
        self._size = size
        self._seats: list[_Seat] = []
        self._why_none = "no worker was started"
        self._changed = asyncio.Event()
        self.warnings: tuple[str, ...] = ()
        """Which workers did not start, and why."""

    async def __aenter__(self) -> Self:
        """Start the workers, and wait for them. Those that do not start are done without.

        Raises:
            WorkerLostError: None of them started.
        """
        self._seats = [_Seat(self._hired()) for _ in range(self._size)]
        try:
            await asyncio.wait([seat.worker for seat in self._seats])
        except BaseException:
            await self.aclose()
            raise
        for seat in tuple(self._seats):
            self._drop_if_empty(seat)
        if not self._seats:
            raise WorkerLostError(self._why_none)
        missing = self._size - len(self._seats)
        if missing:
            self.warnings = (f"{missing} of {self._size} workers missing: {self._why_none}",)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End all workers."""
        await self.aclose()

    async def play(self, job: TrialJob) -> TrialRecord:
        """The trial's record, played by the worker that has the least to do.

        Raises:
            WorkerLostError: `ATTEMPTS` workers were lost while they played it and nothing else, or
                there is none.
            TrialBrokeError: A worker raised something.
        """
        lost, alone = 0, False
        while True:
            try:
                async with self._seat(alone=alone) as seat:
                    return await self._begin(job, seat)
            except _NotBegunError:
                continue  # with one seat less
            except _LostTogetherError:
                alone = True
            except WorkerLostError:
                lost += 1
                if lost == ATTEMPTS:
                    raise

    @asynccontextmanager
    async def _seat(self, *, alone: bool) -> AsyncIterator[_Seat]:
        """A place for one more trial; with nobody else, before and while, where it is `alone`."""
        seat = await self._free_seat()
        seat.is_reserved = alone
        try:
            while alone and seat.busy:
                await self._changed.wait()
            seat.busy += 1
            try:
                yield seat
            finally:
                seat.busy -= 1
        finally:
            if alone:
                seat.is_reserved = False
            self._tell()

    async def _free_seat(self) -> _Seat:
        while self._seats:
            free = [seat for seat in self._seats if not seat.is_reserved]
            if free:
                return min(free, key=lambda each: each.busy)
            await self._changed.wait()
        raise WorkerLostError(self._why_none)

    def _tell(self) -> None:
        """Wake whoever waits for a seat."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def _begin(self, job: TrialJob, seat: _Seat) -> TrialRecord:
        hired = seat.worker
        try:
            # Others wait for the same worker, so that one who is cancelled must not stop its start.
            worker = await asyncio.shield(hired)
        except WorkerLostError as error:
            self._drop_if_empty(seat)
            raise _NotBegunError(str(error)) from error
        try:
            return await worker.play(job)
        except WorkerLostError as error:
            is_first = seat.worker is hired
            if is_first and seat in self._seats:
                seat.worker = self._hired()
            if seat.busy > 1 or not is_first:
                raise _LostTogetherError(str(error)) from error
            raise

    def _hired(self) -> asyncio.Task[Worker]:
        return asyncio.ensure_future(self._started())

    async def _started(self) -> Worker:
        try:
            return await self._hire()
        except WorkerLostError:
            raise
        except Exception as error:
            # Whatever it is, the other workers go on, and so does the run.
            logger.exception("a worker could not be started")
            msg = f"a worker could not be started: {type(error).__name__}: {error}"
            raise WorkerLostError(msg) from error

    def _drop_if_empty(self, seat: _Seat) -> None:
        """Do without a seat whose worker did not start."""
        if not seat.worker.done() or seat.worker.cancelled():
            return
        error = seat.worker.exception()
        if error is not None and seat in self._seats:
            self._seats.remove(seat)
            self._why_none = str(error)

    async def aclose(self) -> None:
        """End all workers. May be called again."""
        seats, self._seats = self._seats, []
        self._tell()
        await asyncio.gather(*map(_vacate, seats))


async def _vacate(seat: _Seat) -> None:
    seat.worker.cancel()  # one that is started already does not mind
    await asyncio.wait([seat.worker])
    if not seat.worker.cancelled() and seat.worker.exception() is None:
        await seat.worker.result().aclose()
