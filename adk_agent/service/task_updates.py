"""The beginning, the artifact and the end of an A2A task, for the executors of the service."""

from __future__ import annotations

from collections.abc import Iterable

from a2a.helpers import new_task, new_text_message
from a2a.server.agent_execution import RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Part, TaskState

from adk_agent.requests.intent import Question
from adk_agent.service.conversation import artifacts
from adk_agent.service.conversation.open_questions import question_metadata


async def begun(context: RequestContext, event_queue: EventQueue) -> TaskUpdater:
    """Publish the task of a message, if it is new, and return what updates it."""
    task, message = context.current_task, context.message
    if task is None:
        if message is None:
            raise ValueError("an A2A request without a message reached the executor")
        state = TaskState.TASK_STATE_SUBMITTED
        task = new_task(message.task_id, message.context_id, state, history=[message])
        await event_queue.enqueue_event(task)
    return TaskUpdater(event_queue, task.id, task.context_id)


async def attach(updater: TaskUpdater, parts: Iterable[Part]) -> None:
    """Add the artifact of an evaluation, marked as whole: ADK forgets what is not."""
    await updater.add_artifact(list(parts), name=artifacts.NAME, last_chunk=True)


async def attach_file(updater: TaskUpdater, part: Part) -> None:
    """Add a file as an artifact by its name."""
    await updater.add_artifact([part], name=part.filename, last_chunk=True)


async def ask(updater: TaskUpdater, question: Question, text: str) -> None:
    """Let a task wait for the answer to a question."""
    message = new_text_message(text, context_id=updater.context_id, task_id=updater.task_id)
    await updater.update_status(
        TaskState.TASK_STATE_INPUT_REQUIRED,
        message=message,
        metadata=question_metadata(question),
    )


async def end(updater: TaskUpdater, state: TaskState, text: str) -> None:
    """End a task with a message."""
    message = new_text_message(text, context_id=updater.context_id, task_id=updater.task_id)
    await updater.update_status(state, message=message)
