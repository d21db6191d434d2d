"""History: the evaluations, messages and open questions of a conversation, by the task store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import ListTasksRequest, Message, Role, Task, TaskState
from google.protobuf.json_format import MessageToDict

from adk_agent.core.errors import RequestError
from adk_agent.requests.intent import Question, Situation
from adk_agent.runs.tracking import checked_run_id
from adk_agent.service.conversation.open_questions import is_expired, question_of
from adk_agent.service.conversation.parsing import request_text

MAX_TASKS = 100
"""The number of tasks of a context that are read, the latest first."""
MOST_HEARD = 30
"""Most earlier messages of a conversation that are handed to a reader."""
_LONGEST_HEARD = 10_000
"""Characters. A longer message is JSON, or not worth remembering."""
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
AT_WORK = frozenset({TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING})


@dataclass(frozen=True, kw_only=True)
class PastTask:
    """A task of the same context that asked for an evaluation."""

    task_id: str
    state: TaskState
    run_id: str | None
    """None before the first progress of its run."""

    @property
    def has_ended(self) -> bool:
        """True if the task is over, however it ended."""
        return self.state in ENDED_STATES

    @property
    def is_preparing(self) -> bool:
        """True if the task is at work and has no run yet."""
        return self.run_id is None and self.state in AT_WORK


@dataclass(frozen=True, kw_only=True)
class History:
    """The earlier tasks of a context.

    Args:
        evaluations: Those that have a run, or may get one; the one with the latest update first.
        heard: What the caller wrote, the oldest first.
        asking: The ids of tasks whose questions are open.
    """

    evaluations: tuple[PastTask, ...] = ()
    heard: tuple[str, ...] = ()
    asking: tuple[str, ...] = ()

    def about(self, task_ids: Collection[str]) -> History:
        """Return the history with these evaluations alone; the same if none is among them."""
        named = tuple(task for task in self.evaluations if task.task_id in task_ids)
        return History(evaluations=named or self.evaluations, heard=self.heard, asking=self.asking)

    def situation(self, question: Question | None) -> Situation:
        """Return the situation of the next message."""
        runs = [task.run_id for task in self.evaluations if task.run_id is not None]
        return Situation(
            heard=self.heard,
            run_ids=tuple(dict.fromkeys(runs)),
            question=question,
            preparing=any(task.is_preparing for task in self.evaluations),
        )


async def history_of(
    store: TaskStore, call: ServerCallContext, message: Message, now: datetime
) -> History:
    """Return the history of a message's context.

    Args:
        store: Read as the caller, so nobody sees another caller's tasks.
        call: Who asks.
        message: The message, with its task, of which only earlier messages count.
        now: The time, for questions that nobody answered.
    """
    context_id = message.context_id
    request = ListTasksRequest(context_id=context_id, page_size=MAX_TASKS)
    tasks = (await store.list(request, call)).tasks
    others = [task for task in tasks if task.id != message.task_id]
    found = [
        PastTask(task_id=task.id, state=task.status.state, run_id=run_id_of(task))
        for task in others
    ]
    heard = [text for task in reversed(tasks) for text in _heard_in(task, but=message.message_id)]
    return History(
        evaluations=tuple(task for task in found if task.run_id is not None or task.is_preparing),
        heard=tuple(heard[-MOST_HEARD:]),
        asking=tuple(task.id for task in others if is_open(task, now)),
    )


async def asking_tasks(
    store: TaskStore, context_id: str, call: ServerCallContext, now: datetime
) -> list[Task]:
    """Return the tasks of a context whose questions are open."""
    state = TaskState.TASK_STATE_INPUT_REQUIRED
    request = ListTasksRequest(context_id=context_id, status=state, page_size=MAX_TASKS)
    return [task for task in (await store.list(request, call)).tasks if is_open(task, now)]


def is_open(task: Task, now: datetime) -> bool:
    """Tell whether a task has a question that can be answered."""
    return question_of(task) is not None and not is_expired(task, now)


def _heard_in(task: Task, *, but: str) -> Iterator[str]:
    for message in task.history:
        if message.role != Role.ROLE_USER or message.message_id == but:
            continue
        try:
            text = request_text(message)
        except RequestError:
            continue
        if text.strip() and len(text) <= _LONGEST_HEARD:
            yield text


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
