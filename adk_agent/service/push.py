"""Push notifications: who wants to hear of a task, and telling them without harm to the task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
from a2a.server.context import ServerCallContext
from a2a.server.tasks import (
    InMemoryPushNotificationConfigStore,
    PushNotificationEvent,
    PushNotificationSender,
)
from a2a.types import Task, TaskPushNotificationConfig, TaskStatusUpdateEvent
from a2a.utils.errors import InvalidParamsError
from a2a.utils.proto_utils import to_stream_response
from google.protobuf.json_format import MessageToDict

from adk_agent.conversation.earlier import ENDED_STATES

logger = logging.getLogger(__name__)

TOKEN_HEADER = "X-A2A-Notification-Token"  # noqa: S105 - a header's name
MAX_CONFIGS_PER_TASK = 10
MAX_WAITING_PER_TASK = 100
_CLOSE_S = 1.0

IsAllowed = Callable[[str], Awaitable[bool]]


class PushConfigs(InMemoryPushNotificationConfigStore):
    """Who wants to hear of which task; at most ten for a task, until it has ended."""

    async def set_info(
        self,
        task_id: str,
        notification_config: TaskPushNotificationConfig,
        context: ServerCallContext,
    ) -> TaskPushNotificationConfig:
        """Keep a configuration.

        Raises:
            InvalidParamsError: The task has too many, or a header would carry a line break.
        """
        _check_headers(notification_config)
        others = {
            config.id
            for config in await self.get_info(task_id, context)
            if config.id != (notification_config.id or task_id)
        }
        if len(others) >= MAX_CONFIGS_PER_TASK:
            raise InvalidParamsError(
                message=f"a task has at most {MAX_CONFIGS_PER_TASK} push notification configs"
            )
        return await super().set_info(task_id, notification_config, context)

    def forget(self, task_id: str) -> None:
        """Drop everything about a task."""
        with self.lock:
            for owner, infos in list(self._push_notification_infos.items()):
                infos.pop(task_id, None)
                if not infos:
                    del self._push_notification_infos[owner]


def _check_headers(config: TaskPushNotificationConfig) -> None:
    auth = config.authentication
    for name, value in (
        ("token", config.token),
        ("authentication.scheme", auth.scheme),
        ("authentication.credentials", auth.credentials),
    ):
        if any(not " " <= character <= "~" for character in value):
            raise InvalidParamsError(message=f"{name} can hold visible ASCII characters only")


@dataclass(frozen=True, kw_only=True)
class _Notice:
    body: dict[str, Any]
    is_last: bool


class PushSender(PushNotificationSender):
    """Tells in the background, in order, and once: nobody waits for a slow or a dead receiver.

    Args:
        configs: Who wants to hear of which task.
        client: Sends; it screens addresses, and has a short timeout.
        is_allowed: Whether a URL may be called.
    """

    def __init__(
        self, configs: PushConfigs, client: httpx.AsyncClient, is_allowed: IsAllowed
    ) -> None:
        self._configs = configs
        self._client = client
        self._is_allowed = is_allowed
        self._waiting: dict[str, list[_Notice]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._failed: set[tuple[str, str]] = set()

    async def send_notification(self, task_id: str, event: PushNotificationEvent) -> None:
        """Have an event told to everybody who wants to hear of the task."""
        if not await self._configs.get_info_for_dispatch(task_id):
            return
        waiting = self._waiting.setdefault(task_id, [])
        waiting.append(_Notice(body=MessageToDict(to_stream_response(event)), is_last=_ends(event)))
        if len(waiting) > MAX_WAITING_PER_TASK:
            del waiting[0]  # the latest say most, and the last says how it ended
        if task_id not in self._workers:
            self._workers[task_id] = asyncio.create_task(self._work(task_id))

    async def aclose(self) -> None:
        """Give what waits a moment to be told, and close the client."""
        workers = set(self._workers.values())
        if workers:
            _, late = await asyncio.wait(workers, timeout=_CLOSE_S)
            for worker in late:
                worker.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._client.aclose()

    async def _work(self, task_id: str) -> None:
        waiting = self._waiting[task_id]
        try:
            while waiting:
                notice = waiting.pop(0)
                await self._tell_all(task_id, notice.body)
                if notice.is_last:
                    self._configs.forget(task_id)
                    self._failed = {each for each in self._failed if each[0] != task_id}
        finally:
            del self._waiting[task_id], self._workers[task_id]

    async def _tell_all(self, task_id: str, body: dict[str, Any]) -> None:
        configs = await self._configs.get_info_for_dispatch(task_id)
        await asyncio.gather(*(self._tell(task_id, config, body) for config in configs))

    async def _tell(
        self, task_id: str, config: TaskPushNotificationConfig, body: dict[str, Any]
    ) -> None:
        try:
            if not await self._is_allowed(config.url):
                self._note(task_id, config, "its address may not be called")
                return
            response = await self._client.post(config.url, json=body, headers=_headers(config))
            if not response.is_success:
                self._note(task_id, config, f"it answered {response.status_code}")
        except Exception as error:  # noqa: BLE001 - whatever a receiver does, the task goes on
            self._note(task_id, config, type(error).__name__)

    def _note(self, task_id: str, config: TaskPushNotificationConfig, why: str) -> None:
        if (task_id, config.id) not in self._failed:
            self._failed.add((task_id, config.id))
            # The path and the query may be secrets of the receiver.
            host = urlsplit(config.url).hostname
            logger.warning("task %s: a notification to %r failed: %s", task_id, host, why)


def _headers(config: TaskPushNotificationConfig) -> dict[str, str]:
    headers = {TOKEN_HEADER: config.token} if config.token else {}
    auth = config.authentication
    if auth.scheme and auth.credentials:
        headers["Authorization"] = f"{auth.scheme} {auth.credentials}"
    return headers


def _ends(event: PushNotificationEvent) -> bool:
    if isinstance(event, Task | TaskStatusUpdateEvent):
        return event.status.state in ENDED_STATES
    return False
