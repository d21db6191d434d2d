"""The process that plays a service's evaluations: `python -m adk_agent.service.playing.worker`.

Reads frames from standard input and answers on what was standard output; whatever prints goes to
standard error. It ends when it is told to, and at once when its input ends: then the service is gone,
and a run is left as a kill would leave it.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import logging
import os
import sys
import threading
from typing import IO, Any

from adk_agent.core.redaction import redact_logs
from adk_agent.results.progress import Progress
from adk_agent.service.playing.frames import (
    Asked,
    Broke,
    Cancel,
    Canceled,
    CannotStart,
    Close,
    Ended,
    Hello,
    Ready,
    ReportOf,
    Told,
    blocking_frame,
    framed,
    writer_to,
)
from adk_agent.service.playing.player import Player, PlayerBrokeError
from adk_agent.service.playing.spawning import WITH_ADK

logger = logging.getLogger(__name__)

NEEDED = ("adk_agent.service.playing.in_process",)
"""Imported while the service is still being loaded, so that the first evaluation has no need to."""
NEEDED_WITH_ADK = (
    "adk_agent.workflow.sequence",
    "adk_agent.workflow.session",
    "google.adk.runners",
)
"""The same where language models read and word."""
SERVICE_IS_GONE = 3
"""The exit code when the input ends."""


def main() -> None:
    """Play until told to end."""
    orders, answers = _own_pipes()
    gc.disable()
    for module in (*NEEDED, *(NEEDED_WITH_ADK if WITH_ADK in sys.argv[1:] else ())):
        importlib.import_module(module)
    try:
        hello: Hello = blocking_frame(orders)
    except EOFError:
        sys.exit(SERVICE_IS_GONE)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    redact_logs(hello.secrets)
    loop = asyncio.new_event_loop()
    working = loop.create_task(_work(hello, orders, answers))
    while not working.done():
        try:
            loop.run_until_complete(working)
        except SystemExit as error:
            # asyncio lets one task that exits end the loop of all.
            logger.warning("a task tried to end the program: %r", error)
    sys.stdout.flush()
    os._exit(0)  # without waiting for threads, in which a plugin that was given up on may go on


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The pipes to the service, where nothing that reads standard input, or prints, gets at them."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return orders, answers


async def _work(hello: Hello, orders: IO[bytes], answers: IO[bytes]) -> None:
    from adk_agent.service.playing.in_process import InProcessPlayer

    writer = await writer_to(answers)
    try:
        player = InProcessPlayer(hello.assembly.prepared(), own_addresses=hello.own_addresses)
    except Exception as error:  # noqa: BLE001 - the service raises it
        writer.write(framed(CannotStart(error)))
        await writer.drain()
        return
    gc.freeze()  # a collection over all that is loaded takes half a second
    gc.enable()
    async with player:
        worker = _Worker(player, writer)
        worker.listen(orders)
        writer.write(framed(Ready()))
        await worker.closed.wait()
        await worker.cancel_all()
        await writer.drain()


class _Worker:
    """Does what is asked for, everything at once."""

    def __init__(self, player: Player, writer: asyncio.StreamWriter) -> None:
        self._player = player
        self._writer = writer
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self.closed = asyncio.Event()

    def listen(self, orders: IO[bytes]) -> None:
        """Hear in a thread: a loop that is busy would notice the end of the service too late."""
        loop = asyncio.get_running_loop()

        def hear() -> None:
            while True:
                try:
                    frame = blocking_frame(orders)
                except EOFError:
                    os._exit(SERVICE_IS_GONE)
                loop.call_soon_threadsafe(self._take, frame)

        threading.Thread(target=hear, name="orders", daemon=True).start()

    def _take(self, frame: Any) -> None:
        match frame:
            case Asked(number=number, what=what):
                task = asyncio.get_running_loop().create_task(self._answer(number, what))
                self._tasks[number] = task
                task.add_done_callback(lambda task: self._forget(number, task))
            case Cancel(number=number) if number in self._tasks:
                self._tasks[number].cancel()
            case Close():
                self.closed.set()

    def _forget(self, number: int, task: asyncio.Task[None]) -> None:
        del self._tasks[number]
        if task.cancelled():  # before it had begun, so that it could not say so itself
            self._writer.write(framed(Ended(number, Canceled())))

    async def _answer(self, number: int, what: Any) -> None:
        outcome: Any
        try:
            outcome = await self._outcome(number, what)
        except asyncio.CancelledError:
            outcome = Canceled()
        except PlayerBrokeError:
            outcome = Broke()
        except (Exception, SystemExit):
            logger.exception("an order broke")
            outcome = Broke()
        self._writer.write(framed(Ended(number, outcome)))

    async def _outcome(self, number: int, what: Any) -> Any:
        if isinstance(what, ReportOf):
            parts_of = self._player.rebuilt_parts if what.rebuilt else self._player.report_parts
            return await parts_of(what.run_id)

        def on_progress(progress: Progress) -> None:
            self._writer.write(framed(Told(number, progress)))

        return await self._player.play(what, on_progress)

    async def cancel_all(self) -> None:
        """Cancel everything, and wait for its end."""
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


if __name__ == "__main__":
    main()
