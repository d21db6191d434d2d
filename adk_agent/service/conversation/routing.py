"""ConversationContexts: decides which task a message belongs to.

a2a-sdk plays the messages of one task one after the other, and refuses messages to a task that has
ended. A question about a running evaluation would be answered when that is over, and one about a
finished evaluation never. Here

- a message that names a task at work becomes a new task in the same context;
- so does a follow-up that names a task that has ended; other messages to such a task are refused by
  a2a-sdk, as the protocol demands;
- a message that names no task answers the question that is open in its context, if exactly one is;
- "status?" and "cancel it" never answer a question, except that "cancel it" declines one.

If a new task stands in for one that was named, its message refers to that.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import Message, SendMessageRequest, Task
from a2a.utils.errors import ContentTypeNotSupportedError

from adk_agent.conversation.questions import settles
from adk_agent.core.errors import RequestError
from adk_agent.service.conversation.follow_ups import NOTHING, FollowUps
from adk_agent.service.conversation.history import AT_WORK, ENDED_STATES, asking_tasks
from adk_agent.service.conversation.open_questions import question_of
from adk_agent.service.conversation.parsing import (
    UnsupportedPartError,
    is_program,
    own_parts,
    refuse_files,
    request_text,
)


class ConversationContexts(SimpleRequestContextBuilder):
    """Builds request contexts as the head of this module says; refuses files (-32005).

    Args:
        task_store: Where the tasks are kept.
        follow_ups: Reads follow-ups.
        now: Gives the time.
    """

    def __init__(
        self, task_store: TaskStore, *, follow_ups: FollowUps, now: Callable[[], datetime]
    ) -> None:
        super().__init__(should_populate_referred_tasks=False, task_store=task_store)
        self._tasks = task_store
        self._follow_ups = follow_ups
        self._now = now

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
            if task_id is not None:
                named = await self._tasks.get(task_id, context)
                if named is not None:
                    context_id = named.context_id
                    if await self._wants_its_own(named, params.message):
                        params.message.task_id = ""
                        params.message.reference_task_ids.append(task_id)
                        task_id = None
            elif context_id is not None:
                task_id = await self._answered(context_id, params.message, context)
        return await super().build(context, params, task_id, context_id, task)

    async def _wants_its_own(self, named: Task, message: Message) -> bool:
        if named.status.state in AT_WORK:
            return True
        text = _text_of(message)
        if text is None:
            return False
        if named.status.state in ENDED_STATES:
            return await self._follow_ups.is_one(text)
        return not await self._may_answer(named, text)

    async def _answered(
        self, context_id: str, message: Message, context: ServerCallContext
    ) -> str | None:
        """Return the only task of a context that a message may answer, or None."""
        asking = await asking_tasks(self._tasks, context_id, context, self._now())
        text = _text_of(message) if len(asking) == 1 else None
        if text is None or is_program(text) or not await self._may_answer(asking[0], text):
            return None
        return asking[0].id

    async def _may_answer(self, asking: Task, text: str) -> bool:
        if settles(question_of(asking), text):
            return True
        return await self._follow_ups.prompt(text, NOTHING) is None


def _refuse_files(message: Message) -> None:
    try:
        refuse_files(own_parts(message.parts))
    except UnsupportedPartError as error:
        raise ContentTypeNotSupportedError(message=str(error)) from error


def _text_of(message: Message) -> str | None:
    try:
        return request_text(message)
    except RequestError:
        return None
