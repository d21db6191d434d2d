"""PastTask: what a conversation holds of evaluations, as the task store knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import ListTasksRequest, Task, TaskState
from google.protobuf.json_format import MessageToDict

from adk_agent.core.errors import RequestError
from adk_agent.runs.tracking import checked_run_id

MAX_TASKS = 100
"""The number of tasks of a context that are read, the latest first."""
PROGRESS = "progress"
"""Key of a task's metadata that holds the last `Progress` of its evaluation."""

ENDED_STATES = frozenset(
    {
        TaskState.TASK_STATE_COMPLETED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_REJECTED,
    }
)


@dataclass(frozen=True, kw_only=True)
class PastTask:
    """A task of the same context that asked for an evaluation."""

    task_id: str
    state: TaskState
    run_id: str | None
    """None before the first progress of its run."""

    @property
    def has_ended(self) -> bool:
        """Tell whether the task is over, however it ended."""
        return self.state in ENDED_STATES


async def past_tasks(
    store: TaskStore, context_id: str, call: ServerCallContext, *, without: str
) -> list[PastTask]:
    """Return the evaluations of a context, the one with the latest update first.

    Args:
        store: Read as the caller, so nobody sees another caller's tasks.
        context_id: Of the conversation.
        call: Who asks.
        without: The id of the task that asks.
    """
    request = ListTasksRequest(context_id=context_id, page_size=MAX_TASKS)
    found = await store.list(request, call)
    tasks = [
        PastTask(task_id=task.id, state=task.status.state, run_id=run_id_of(task))
        for task in found.tasks
        if task.id != without
    ]
    return [task for task in tasks if task.run_id is not None or not task.has_ended]


def run_id_of(task: Task) -> str | None:
    """Return the run that a task's metadata names, None where it names none."""
    if PROGRESS not in task.metadata:
        return None
    progress = MessageToDict(task.metadata)[PROGRESS]
    run_id = progress.get("run_id") if isinstance(progress, Mapping) else None
    try:
        return checked_run_id(run_id) if isinstance(run_id, str) else None
    except RequestError:
        return None
