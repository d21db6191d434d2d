"""Progress of a running evaluation, for terminals, events and A2A updates."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from adk_agent.results.agent_progress import AgentProgress
from adk_agent.results.running_scores import RunningScore
from tau_bridge.clock import Clock

T = TypeVar("T")

Stage = Literal["preparing", "playing", "finished"]
MOST_SCORES = 20


class Progress(BaseModel):
    """The progress of an evaluation. Counts are of trials."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: Stage
    run_id: str
    message: str
    is_warning: bool = False
    """True if the message warns of something, so that a display should keep it."""
    done: int = 0
    total: int = 0
    passed: int = 0
    scored: int = 0
    unscored: int = 0
    failed: int = 0
    seconds_left: float | None = None
    """Estimated from the trials so far; None before the first."""
    trial: str | None = None
    """The trial that just ended, as participant, domain, task and number."""
    outcome: str | None = None
    """Its outcome: `passed`, `not passed`, `unscored`, `failed`."""
    reason: str | None = None
    """Why it has no score or did not pass, if known."""
    scores: tuple[RunningScore, ...] = ()
    """The scores of participants by domain, up to a fiftieth of their trials behind. Only the first
    `MOST_SCORES` in the plan's order, because every update carries them."""
    agents: tuple[AgentProgress, ...] = ()
    """The progress of each agent; only the first `MOST_SCORES` in the plan's order."""
    total_tokens: float | None = None
    """Tokens of the assessor's own models so far; None if unknown."""
    cost: float | None = None
    """Cost of the assessor's own models so far in US dollars; None if unknown."""


OnProgress = Callable[[Progress], None]
"""Called on the event loop; must not block."""


def silent(progress: Progress) -> None:
    """Ignore progress."""


@contextlib.asynccontextmanager
async def streamed(
    work: Callable[[OnProgress], Coroutine[Any, Any, T]],
) -> AsyncIterator[tuple[AsyncIterator[Progress], asyncio.Task[T]]]:
    """Run some work as a task; yield an iterator over its progress and the task.

    Leaving the block early cancels the work and waits for its end.

    Args:
        work: Called with a function that takes each progress.
    """
    queue: asyncio.Queue[Progress | None] = asyncio.Queue()

    async def closing_the_queue() -> T:
        try:
            return await work(queue.put_nowait)
        finally:
            queue.put_nowait(None)

    async def updates() -> AsyncIterator[Progress]:
        while (progress := await queue.get()) is not None:
            yield progress

    task = asyncio.create_task(closing_the_queue())
    try:
        yield updates(), task
    finally:
        if not task.done():
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task


class Pace:
    """Estimates a run's remaining time from the trials played so far."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._start: tuple[float, int] | None = None

    def seconds_left(self, stage: Stage, done: int, total: int) -> float | None:
        """Return the estimated seconds left; None until this process has finished a trial."""
        if stage != "playing":
            return None
        now_s = self._clock.monotonic_s()
        if self._start is None:
            self._start = now_s, done
        since_s, before = self._start
        if done == before:
            return None
        return round((now_s - since_s) / (done - before) * (total - done), 1)


def counts_of(progress: Progress) -> str:
    """Return the counts of trials by outcome and the time left, as text."""
    parts = [f"{progress.done} of {progress.total} played", f"{progress.passed} passed"]
    parts += [
        f"{count} {what}"
        for count, what in ((progress.unscored, "unscored"), (progress.failed, "failed"))
        if count
    ]
    if progress.seconds_left is not None and progress.stage == "playing":
        parts.append(f"about {progress.seconds_left:.0f} s left")
    return ", ".join(parts)
