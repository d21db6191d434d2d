"""StoppableExecutor: ends what runs when the service stops, and says so in its tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskStore, TaskUpdater
from a2a.types import Part, Task, TaskState

from adk_agent.service.conversation.history import ENDED_STATES, run_id_of
from adk_agent.service.sweep import WITH_TRIALS, ArtifactOf, failed_task, finished_part
from adk_agent.service.task_updates import attach, begun, end

logger = logging.getLogger(__name__)

STOPPED = "The service was stopped while this evaluation ran."
ATTACHING_SHARE = 0.6
"""The share of a stop's time in which artifacts are still made."""
_POLL_S = 0.02


class StoppableExecutor(AgentExecutor):
    """Runs another executor, and can end all that it does.

    Args:
        inner: Does the work. When it is cancelled it may take some time to tidy up.
        store: Where the tasks are kept.
        artifact_of: Makes the artifact of what a run has finished.
        now: The time of a failure.
    """

    def __init__(
        self,
        inner: AgentExecutor,
        *,
        store: TaskStore,
        artifact_of: ArtifactOf,
        now: Callable[[], datetime],
    ) -> None:
        self._inner = inner
        self._store = store
        self._artifact_of = artifact_of
        self._now = now
        self._running: dict[asyncio.Task[None], RequestContext] = {}
        self._stopping = asyncio.Event()
        self._attach_until_s = 0.0

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Work on one message; a task that the service's stop interrupts, or finds, is failed."""
        if self._stopping.is_set():
            # It came after the stop: nothing would end what it begins.
            updater = await begun(context, event_queue)
            await end(updater, TaskState.TASK_STATE_FAILED, STOPPED)
            return
        work = asyncio.create_task(self._inner.execute(context, event_queue))
        self._running[work] = context
        try:
            await _result_of(work)
        except asyncio.CancelledError:
            if not self._stopping.is_set() or not work.cancelled():
                raise
            await self._fail(context, event_queue)
        finally:
            del self._running[work]

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Cancel one task."""
        await self._inner.cancel(context, event_queue)

    async def stop(self, timeout_s: float) -> None:
        """Cancel everything, and wait until the tasks in the store say so.

        Args:
            timeout_s: How long to wait for that. What has not ended then is failed without its
                artifact; its run directory has what was finished.
        """
        self._stopping.set()
        # A large artifact takes seconds; where there are many, saying how tasks ended comes first.
        self._attach_until_s = asyncio.get_running_loop().time() + ATTACHING_SHARE * timeout_s
        running = dict(self._running)
        for work in running:
            work.cancel()
        try:
            async with asyncio.timeout(timeout_s):
                for context in running.values():
                    while await self._unfinished(context):  # noqa: ASYNC110 - the store has no event
                        await asyncio.sleep(_POLL_S)
        except TimeoutError:
            logger.warning("not everything that ran has ended within %g s", timeout_s)
            for context in running.values():
                task = await self._unfinished(context)
                if task is not None:
                    failed = failed_task(task, STOPPED, [], self._now())
                    await self._store.save(failed, context.call_context)

    async def _unfinished(self, context: RequestContext) -> Task | None:
        task = await self._stored(context)
        return None if task is None or task.status.state in ENDED_STATES else task

    async def _stored(self, context: RequestContext) -> Task | None:
        if context.task_id is None:
            return None
        return await self._store.get(context.task_id, context.call_context)

    async def _fail(self, context: RequestContext, event_queue: EventQueue) -> None:
        task = await self._stored(context)
        if task is None:
            raise asyncio.CancelledError
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        parts: list[Part] = []
        if asyncio.get_running_loop().time() < self._attach_until_s:
            parts = await finished_part(run_id_of(task), self._artifact_of)
        if parts:
            await attach(updater, parts)
        text = STOPPED + (WITH_TRIALS if parts else "")
        await end(updater, TaskState.TASK_STATE_FAILED, text)


async def _result_of(work: asyncio.Task[None]) -> None:
    """Wait for a task, and take it along when this one is cancelled."""
    try:
        await asyncio.shield(work)
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work})
        if not work.cancelled() and work.exception() is not None:
            logger.debug("work broke while it was cancelled", exc_info=work.exception())
        raise
