"""Crew: workers that may die, and what then becomes of what they were doing. Knows no Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from adk_agent.runs import TrialRecord
from adk_agent.trial import TrialJob

ATTEMPTS = 3
"""How often a trial is begun, where the workers that play it are lost."""


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
"""Starts a worker; raises WorkerLostError where that cannot be done."""


@dataclass(eq=False)
class _Seat:
    """A place for a worker; `busy` counts the trials that it is given."""

    worker: asyncio.Task[Worker]
    busy: int = 0


class Crew:
    """A number of workers. A dead one is replaced; what it was playing is begun anew by another.

    Args:
        hire: Starts a worker.
        size: How many.
    """

    def __init__(self, hire: Hire, size: int) -> None:
        self._hire = hire
        self._size = size
        self._seats: list[_Seat] = []
        self._why_none = "no worker was started"
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
            WorkerLostError: `ATTEMPTS` workers were lost while they played it, or there is none.
            TrialBrokeError: A worker raised something.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._begin(job)
            except WorkerLostError:
                continue
        return await self._begin(job)

    async def _begin(self, job: TrialJob) -> TrialRecord:
        if not self._seats:
            raise WorkerLostError(self._why_none)
        seat = min(self._seats, key=lambda each: each.busy)
        hired = seat.worker
        seat.busy += 1
        try:
            # Others wait for the same worker, so that one who is cancelled must not stop its start.
            worker = await asyncio.shield(hired)
            return await worker.play(job)
        except WorkerLostError:
            self._drop_if_empty(seat)
            if seat.worker is hired and seat in self._seats:  # the first to notice
                seat.worker = self._hired()
            raise
        finally:
            seat.busy -= 1

    def _hired(self) -> asyncio.Task[Worker]:
        return asyncio.ensure_future(self._hire())

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
        await asyncio.gather(*map(_vacate, seats))


async def _vacate(seat: _Seat) -> None:
    seat.worker.cancel()  # one that is started already does not mind
    await asyncio.wait([seat.worker])
    if not seat.worker.cancelled() and seat.worker.exception() is None:
        await seat.worker.result().aclose()
