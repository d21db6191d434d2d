"""ProcessBackend: plays evaluations in a process apart, so that the service's loop stays free.

docs/decisions/0012 says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import subprocess
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Self

from a2a.types import Part
from pydantic import SecretStr

from adk_agent.results.progress import OnProgress, silent
from adk_agent.service.playing.backend import BackendEndedError, Job, JobBrokeError, JobResult
from adk_agent.service.playing.messages import (
    Cancel,
    Close,
    Ended,
    Init,
    ProgressUpdate,
    ReportOf,
    Submit,
    listen,
    receiving_end,
    send,
    sending_end,
)
from adk_agent.service.playing.spawning import spawn

if TYPE_CHECKING:
    from adk_agent.assembly import Assembly

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 120.0
CLOSE_TIMEOUT_S = 3.0
"""Seconds for running work to tidy up, before the process is killed."""


class ProcessBackend:
    """Plays jobs in a process of its own. A `Backend`.

    If that process ends, its jobs end with it, and the next job starts another one.

    Args:
        assembly: What evaluations are made of; has to be picklable.
        own_addresses: Where the service itself is reached; it does not assess itself.
        secrets: What that process's log may not show.
        spawned: The first process, where it is started already.
    """

    def __init__(
        self,
        assembly: Assembly,
        *,
        own_addresses: Collection[str] = (),
        secrets: Iterable[SecretStr] = (),
        spawned: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self._init = Init(
            assembly=assembly,
            own_addresses=sorted(own_addresses),
            secrets=(*secrets, *assembly.secrets()),
        )
        self._spawned = spawned
        self._worker: _Worker | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Start the process, and wait until it can play."""
        await self._started()
        return self

    async def __aexit__(self, *_: object) -> None:
        """End the process. What still runs in it is cancelled."""
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.close()

    async def play(self, job: Job, on_progress: OnProgress) -> JobResult:
        """See `Backend`."""
        worker = await self._started()
        result: JobResult = await worker.submit(job, on_progress)
        return result

    async def report_parts(self, run_id: str) -> list[Part] | None:
        """See `Backend`."""
        return await self._parts(ReportOf(run_id, rebuilt=False))

    async def rebuilt_parts(self, run_id: str) -> list[Part] | None:
        """See `Backend`."""
        return await self._parts(ReportOf(run_id, rebuilt=True))

    async def _parts(self, report: ReportOf) -> list[Part] | None:
        worker = await self._started()
        parts: list[Part] | None = await worker.submit(report, silent)
        return parts

    async def _started(self) -> _Worker:
        async with self._starting:
            if self._worker is None or self._worker.ended.is_set():
                process, self._spawned = self._spawned, None
                if process is None:
                    process = spawn(with_adk=not self._init.assembly.settings.by_rules)
                self._worker = _Worker(process)
                await self._worker.start(self._init)
            return self._worker


class _Worker:
    """A process, and the jobs that were submitted to it."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the process that plays evaluations has no pipes")
        self._process = process
        with process.stdin as orders, process.stdout as answers:
            self._orders = sending_end(orders.fileno())
            self._answers = receiving_end(answers.fileno())
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Queue[ProgressUpdate | Ended]] = {}
        self._is_closing = False
        self.ended = asyncio.Event()

    async def start(self, init: Init) -> None:
        """Wait until the process can play.

        Raises:
            BackendEndedError: it ended, or did not get ready.
            Exception: whatever it says that it cannot start for.
        """
        try:
            await self._handshake(init)
        except BaseException:
            self._process.kill()
            self.ended.set()
            await asyncio.to_thread(self._process.wait)
            raise
        loop = asyncio.get_running_loop()

        def on_end() -> None:
            loop.call_soon_threadsafe(self._orders.close)  # it ends, if it has not
            ending = _ending(self._process.wait())
            loop.call_soon_threadsafe(self._end, ending)

        listen(self._answers, self._take, loop=loop, on_end=on_end)

    async def _handshake(self, init: Init) -> None:
        send(self._orders, init)
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                problem: Exception | None = await asyncio.to_thread(self._answers.recv)
        except TimeoutError as error:
            raise BackendEndedError(
                f"the process that plays evaluations was not ready within {START_TIMEOUT_S:g} s"
            ) from error
        except (EOFError, OSError) as error:
            ending = _ending(await asyncio.to_thread(self._process.wait))
            raise BackendEndedError(
                f"the process that plays evaluations did not start ({ending})"
            ) from error
        if problem is not None:
            raise problem

    async def submit(self, job: Job | ReportOf, on_progress: OnProgress) -> Any:
        """Return what a job comes to; see `Backend.play`."""
        number = next(self._numbers)
        queue = self._waiting[number] = asyncio.Queue()
        send(self._orders, Submit(number, job))
        try:
            return await _outcome(queue, on_progress)
        except (JobBrokeError, BackendEndedError):
            raise
        except BaseException:  # it was cancelled, or its progress could not be told
            send(self._orders, Cancel(number))
            with contextlib.suppress(JobBrokeError, BackendEndedError, asyncio.CancelledError):
                await _outcome(queue, silent)
            raise
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        """End the process."""
        self._is_closing = True
        send(self._orders, Close())
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self.ended.wait()
        except TimeoutError:
            self._process.kill()
            await self.ended.wait()

    def _take(self, message: ProgressUpdate | Ended) -> None:
        if message.number in self._waiting:
            self._waiting[message.number].put_nowait(message)

    def _end(self, ending: str) -> None:
        self.ended.set()
        if not self._is_closing:
            logger.error(
                "the process that plays evaluations ended (%s), and %d jobs with it",
                ending,
                len(self._waiting),
            )
        error = BackendEndedError(f"the process that played the evaluation ended ({ending})")
        for number, queue in self._waiting.items():
            queue.put_nowait(Ended(number, error))


async def _outcome(queue: asyncio.Queue[ProgressUpdate | Ended], on_progress: OnProgress) -> Any:
    while isinstance(message := await queue.get(), ProgressUpdate):
        on_progress(message.progress)
    if isinstance(message.outcome, BaseException):
        raise message.outcome
    return message.outcome


def _ending(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"
