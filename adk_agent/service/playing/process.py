"""ProcessPlayer: has evaluations played in a process apart, so that the service's loop stays free.

docs/decisions/0012 says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import subprocess
from collections.abc import Collection, Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from a2a.types import Part
from pydantic import SecretStr

from adk_agent.results.progress import OnProgress, silent
from adk_agent.service.playing.frames import (
    Asked,
    Broke,
    Cancel,
    Canceled,
    CannotStart,
    Close,
    Ended,
    Hello,
    ReportOf,
    Told,
    framed,
    read_frame,
    reader_from,
    writer_to,
)
from adk_agent.service.playing.player import Order, Played, PlayerBrokeError, PlayerEndedError
from adk_agent.service.playing.spawning import spawn

if TYPE_CHECKING:
    from adk_agent.assembly import Assembly

logger = logging.getLogger(__name__)

START_TIMEOUT_S = 120.0
CLOSE_TIMEOUT_S = 3.0
"""How long what still runs may take to tidy up, before the process is killed."""


class ProcessPlayer:
    """Plays orders in a process of its own. A `Player`.

    If that process ends, what it played ends with it, and the next order starts another.

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
        self._hello = Hello(
            assembly=assembly,
            own_addresses=sorted(own_addresses),
            secrets=(*secrets, *assembly.secrets()),
        )
        self._spawned = spawned
        self._link: _Link | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        """Start the process, and wait until it can play."""
        await self._linked()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the process. What still runs in it is cancelled."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    def _spawn(self) -> subprocess.Popen[bytes]:
        return spawn(with_adk=not self._hello.assembly.settings.by_rules)

    async def play(self, order: Order, on_progress: OnProgress) -> Played:
        """See `Player`."""
        link = await self._linked()
        played: Played = await link.ask(order, on_progress)
        return played

    async def report_parts(self, run_id: str) -> list[Part] | None:
        """See `Player`."""
        return await self._parts(ReportOf(run_id, rebuilt=False))

    async def rebuilt_parts(self, run_id: str) -> list[Part] | None:
        """See `Player`."""
        return await self._parts(ReportOf(run_id, rebuilt=True))

    async def _parts(self, what: ReportOf) -> list[Part] | None:
        link = await self._linked()
        parts: list[Part] | None = await link.ask(what, silent)
        return parts

    async def _linked(self) -> _Link:
        async with self._starting:
            if self._link is None or self._link.has_ended:
                process, self._spawned = self._spawned or self._spawn(), None
                self._link = await _Link.to(process, self._hello)
            return self._link


class _Link:
    """One process, and what was asked of it."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        orders: asyncio.StreamWriter,
        answers: asyncio.StreamReader,
    ) -> None:
        self._process = process
        self._orders, self._answers = orders, answers
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Queue[Told | Ended | PlayerEndedError]] = {}
        self._is_closing = False
        self._listening: asyncio.Task[None] | None = None
        self.has_ended = False

    @classmethod
    async def to(cls, process: subprocess.Popen[bytes], hello: Hello) -> _Link:
        """Greet a process, and wait until it can play.

        Raises:
            PlayerEndedError: it ended, or did not get ready.
            Exception: whatever it says that it cannot start for.
        """
        if process.stdin is None or process.stdout is None:
            msg = "the process that plays evaluations has no pipes"
            raise RuntimeError(msg)
        link = cls(process, await writer_to(process.stdin), await reader_from(process.stdout))
        try:
            await link._greet(hello)
        except BaseException:
            link._kill()
            link._orders.close()
            await link._ending()
            raise
        link._listening = asyncio.create_task(link._listen())
        return link

    async def _greet(self, hello: Hello) -> None:
        self._orders.write(framed(hello))
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                answer = await read_frame(self._answers)
        except TimeoutError as error:
            msg = f"the process that plays evaluations was not ready within {START_TIMEOUT_S:g} s"
            raise PlayerEndedError(msg) from error
        except asyncio.IncompleteReadError as error:
            msg = f"the process that plays evaluations did not start ({await self._ending()})"
            raise PlayerEndedError(msg) from error
        if isinstance(answer, CannotStart):
            raise answer.error

    async def ask(self, what: Order | ReportOf, on_progress: OnProgress) -> Any:
        """What comes of it; see `Player.play`."""
        number = next(self._numbers)
        queue = self._waiting[number] = asyncio.Queue()
        self._orders.write(framed(Asked(number, what)))
        try:
            return await _outcome(queue, on_progress)
        except (PlayerBrokeError, PlayerEndedError):
            raise
        except BaseException:  # it was cancelled, or nobody can be told any more
            self._orders.write(framed(Cancel(number)))
            with contextlib.suppress(PlayerBrokeError, PlayerEndedError, asyncio.CancelledError):
                await _outcome(queue, on_progress)  # what it came to is of no interest any more
            raise
        finally:
            del self._waiting[number]

    async def close(self) -> None:
        """End the process."""
        self._is_closing = True
        if not self.has_ended:
            self._orders.write(framed(Close()))
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await self._ending()
        except TimeoutError:
            self._kill()
        if self._listening is not None:
            await self._listening

    async def _listen(self) -> None:
        """Hand what comes to whoever waits for it, until nothing comes any more."""
        try:
            while True:
                frame: Told | Ended = await read_frame(self._answers)
                if frame.number in self._waiting:
                    self._waiting[frame.number].put_nowait(frame)
                await asyncio.sleep(0)  # many evaluations may end at once; others get their turn
        except asyncio.IncompleteReadError:
            pass  # it ended
        except Exception:
            logger.exception("what the process that plays evaluations says cannot be read")
            self._kill()
        self.has_ended = True
        ending = await self._ending()
        if not self._is_closing:
            logger.error(
                "the process that plays evaluations ended (%s), and %d orders with it",
                ending,
                len(self._waiting),
            )
        self._orders.close()
        for queue in self._waiting.values():
            queue.put_nowait(PlayerEndedError(f"what played the evaluation ended ({ending})"))

    def _kill(self) -> None:
        self._process.kill()

    async def _ending(self) -> str:
        code = await asyncio.to_thread(self._process.wait)
        return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


async def _outcome(
    queue: asyncio.Queue[Told | Ended | PlayerEndedError], on_progress: OnProgress
) -> Any:
    while True:
        match await queue.get():
            case Told(progress=progress):
                on_progress(progress)
            case Ended(outcome=Canceled()):
                raise asyncio.CancelledError
            case Ended(outcome=Broke()):
                raise PlayerBrokeError
            case Ended(outcome=outcome):
                return outcome
            case PlayerEndedError() as error:
                raise error
