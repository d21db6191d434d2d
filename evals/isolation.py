"""Threads for plugins, so that one which never ends holds up no other."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_own_thread(function: Callable[[], T]) -> T:
    """Return or raise what `function` does, computed in a thread of its own.

    A caller that gives up waiting, for example after a timeout, leaves the thread behind: Python
    cannot stop one. It is a daemon, so that it does not keep the process from ending.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if outcome.done():  # the caller gave up
            return
        if error is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(result)  # type: ignore[arg-type]  # a result where no error is

    def work() -> None:
        result: T | None = None
        error: BaseException | None = None
        try:
            result = function()
        except BaseException as raised:  # noqa: BLE001 - raised again in the caller
            error = raised if _can_be_raised(raised) else RuntimeError(repr(raised))
        with contextlib.suppress(RuntimeError):  # the loop is closed: the caller gave up
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=work, name="plugin", daemon=True).start()
    return await outcome


def _can_be_raised(error: BaseException) -> bool:
    """Check that it may go on in the caller, and neither ends the program nor confuses a future."""
    return isinstance(error, Exception) and not isinstance(error, StopIteration)
