"""ProgressReporter: an evaluation's progress as updates of its A2A task."""

from __future__ import annotations

import asyncio

from a2a.helpers import new_text_message
from a2a.server.tasks import TaskUpdater
from a2a.types import TaskState

from adk_agent.conversation.telling import progress_line
from adk_agent.results.progress import Progress
from adk_agent.service.conversation.history import PROGRESS

MIN_INTERVAL_S = 0.5
"""Between two updates."""
WORDED_UPDATES = 20
"""Updates between the first and the last that are in words; the others only count.

Whatever is said in a status message stays in the task's history for ever, and the whole task is
stored at each update; the numbers are in metadata, which holds the last ones alone.
"""


class ProgressReporter:
    """Publishes the latest progress whenever it is flushed.

    Its owner calls `flush` once `has_begun`, every `MIN_INTERVAL_S` from then on, and at the end.
    """

    def __init__(self, updater: TaskUpdater) -> None:
        self._updater = updater
        self._unpublished: Progress | None = None
        self._worded_share = -1
        self.has_begun = asyncio.Event()
        """Set with the first progress, which is worth a flush at once."""
        self.last: Progress | None = None
        """The last update."""

    def record(self, progress: Progress) -> None:
        """Take note of progress, which the next flush publishes."""
        self.last = self._unpublished = progress
        self.has_begun.set()

    async def flush(self) -> None:
        """Publish the latest progress, if it is not published."""
        progress, self._unpublished = self._unpublished, None
        if progress is None:
            return
        message = None
        if self._is_worth_words(progress):
            message = new_text_message(
                progress_line(progress),
                context_id=self._updater.context_id,
                task_id=self._updater.task_id,
            )
        await self._updater.update_status(
            TaskState.TASK_STATE_WORKING,
            message=message,
            metadata={PROGRESS: progress.model_dump(mode="json")},
        )

    def _is_worth_words(self, progress: Progress) -> bool:
        """Tell whether it is the first or the last, or another twentieth of the trials is done."""
        share = WORDED_UPDATES * progress.done // progress.total if progress.total else 0
        if progress.stage == "finished" or share > self._worded_share:
            self._worded_share = share
            return True
        return False
