"""SafeHandler: answers the protocol's own errors as they are, and every other one by a sentence."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable
from typing import Any, TypeVar

from a2a.server.context import ServerCallContext
from a2a.server.events import Event
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.types import (
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    Message,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import A2AError, InternalError, InvalidParamsError
from google.protobuf.json_format import Error as NoJsonError
from google.protobuf.json_format import MessageToDict

from adk_agent.service.history import with_history

logger = logging.getLogger(__name__)

T = TypeVar("T")

INTERNAL_ERROR = "the assessor broke; its log says why"


def _passed_on(name: str) -> Any:
    """Return a method that answers as the inner handler's method of this name, safely."""

    async def answer(self: SafeHandler, params: Any, context: ServerCallContext) -> Any:
        return await _safely(getattr(self._inner, name)(params, context))

    return answer


class SafeHandler(RequestHandler):
    """Keeps the texts of unexpected exceptions from the wire, and what is not JSON from the store.

    a2a-sdk puts the text of whatever is raised into the answer, and such a text may hold anything.
    And it keeps messages that cannot be written as JSON: each list of tasks with one of them fails.

    Args:
        inner: Handles the requests.
    """

    def __init__(self, inner: RequestHandler) -> None:
        self._inner = inner

    async def on_message_send(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> Task | Message:
        """Return the task, or the message, that a message leads to.

        Raises:
            InvalidParamsError: The message cannot be written as JSON.
        """
        _refuse_what_is_no_json(params)
        with_history(params.configuration, context)
        return await _safely(self._inner.on_message_send(params, context))

    async def on_message_send_stream(
        self, params: SendMessageRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Yield the events that a message leads to.

        Raises:
            InvalidParamsError: The message cannot be written as JSON.
        """
        _refuse_what_is_no_json(params)
        with_history(params.configuration, context)
        async for event in _safe_events(self._inner.on_message_send_stream(params, context)):
            yield event

    async def on_subscribe_to_task(
        self, params: SubscribeToTaskRequest, context: ServerCallContext
    ) -> AsyncGenerator[Event]:
        """Yield the events of a task that goes on."""
        async for event in _safe_events(self._inner.on_subscribe_to_task(params, context)):
            yield event

    async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task | None:
        """Return a task."""
        with_history(params, context)
        return await _safely(self._inner.on_get_task(params, context))

    async def on_get_task_push_notification_config(
        self, params: GetTaskPushNotificationConfigRequest, context: ServerCallContext
    ) -> TaskPushNotificationConfig:
        """Return one configuration of a task; without its id, which 0.3 leaves out, the only one."""
        if not params.id:
            params.id = await self._only_config(params.task_id, context)
        return await _safely(self._inner.on_get_task_push_notification_config(params, context))

    async def _only_config(self, task_id: str, context: ServerCallContext) -> str:
        """Return the id of a task's configuration: the task's own, or the only one; else empty."""
        asked = ListTaskPushNotificationConfigsRequest(task_id=task_id)
        found = await _safely(self._inner.on_list_task_push_notification_configs(asked, context))
        ids = [config.id for config in found.configs]
        if task_id in ids:
            return task_id
        return ids[0] if len(ids) == 1 else ""

    on_list_tasks = _passed_on("on_list_tasks")
    on_cancel_task = _passed_on("on_cancel_task")
    on_create_task_push_notification_config = _passed_on("on_create_task_push_notification_config")
    on_list_task_push_notification_configs = _passed_on("on_list_task_push_notification_configs")
    on_delete_task_push_notification_config = _passed_on("on_delete_task_push_notification_config")
    on_get_extended_agent_card = _passed_on("on_get_extended_agent_card")


def _refuse_what_is_no_json(params: SendMessageRequest) -> None:
    try:
        MessageToDict(params)
    except (NoJsonError, ValueError, RecursionError) as error:
        message = "the message cannot be written as JSON: it holds NaN or an infinite number"
        raise InvalidParamsError(message=message) from error


async def _safely(answer: Awaitable[T]) -> T:
    try:
        return await answer
    except A2AError:
        raise
    except Exception as error:  # noqa: BLE001 - logged, and answered by a sentence
        raise _hidden(error) from None


async def _safe_events(events: AsyncGenerator[Event]) -> AsyncGenerator[Event]:
    try:
        async for event in events:
            yield event
    except A2AError:
        raise
    except Exception as error:  # noqa: BLE001 - logged, and answered by a sentence
        raise _hidden(error) from None
    finally:
        await events.aclose()


def _hidden(error: Exception) -> InternalError:
    logger.error("a request broke", exc_info=error)
    return InternalError(message=INTERNAL_ERROR)
