"""FollowUpContexts: gives follow-ups a task of their own, whatever task they name.

a2a-sdk plays the messages of one task one after the other, and refuses messages to a task that has
ended. A question about a running evaluation would be answered when that is over, and one about a
finished evaluation never. Here

- a message that names a task at work becomes a new task in the same context;
- so does a follow-up or greeting that names a task that has ended; other messages to such a task
  are refused by a2a-sdk, as the protocol demands.

The new task's message refers to the task that it was sent to.
"""

from __future__ import annotations

from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import Message, SendMessageRequest, Task, TaskState
from a2a.utils.errors import ContentTypeNotSupportedError

from adk_agent.core.errors import RequestError
from adk_agent.service.conversation.history import ENDED_STATES
from adk_agent.service.conversation.intents import understand
from adk_agent.service.conversation.parsing import (
    UnsupportedPartError,
    own_parts,
    refuse_files,
    request_text,
)

_AT_WORK = frozenset({TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING})


class FollowUpContexts(SimpleRequestContextBuilder):
    """Builds request contexts as the head of this module says; refuses files (-32005)."""

    def __init__(self, task_store: TaskStore) -> None:
        super().__init__(should_populate_referred_tasks=False, task_store=task_store)
        self._tasks = task_store

    async def build(
        self,
        context: ServerCallContext,
        params: SendMessageRequest | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        task: Task | None = None,
    ) -> RequestContext:
        """Build the request's context.

        Raises:
            ContentTypeNotSupportedError: The message holds a file.
        """
        if params is not None:
            _refuse_files(params.message)
        if params is not None and task_id is not None:
            named = await self._tasks.get(task_id, context)
            if named is not None and _wants_its_own(named, params.message):
                params.message.task_id = ""
                params.message.reference_task_ids.append(task_id)
                return await super().build(context, params, None, named.context_id, None)
            if named is not None:
                context_id = named.context_id
        return await super().build(context, params, task_id, context_id, task)


def _refuse_files(message: Message) -> None:
    try:
        refuse_files(own_parts(message.parts))
    except UnsupportedPartError as error:
        raise ContentTypeNotSupportedError(message=str(error)) from error


def _wants_its_own(named: Task, message: Message) -> bool:
    if named.status.state in _AT_WORK:
        return True
    if named.status.state not in ENDED_STATES:
        return False
    try:
        return understand(request_text(message)) is not None
    except RequestError:
        return False
