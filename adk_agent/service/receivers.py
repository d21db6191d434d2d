"""Receivers: who wants to hear of which task, and in the form of which protocol version."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal

from a2a.server.context import ServerCallContext
from a2a.server.owner_resolver import resolve_user_scope
from a2a.server.tasks import PushNotificationConfigStore
from a2a.server.tasks.push_notification_config_store import normalize_push_notification_config
from a2a.types import TaskPushNotificationConfig
from a2a.utils.constants import VERSION_HEADER
from a2a.utils.errors import InvalidParamsError

MAX_CONFIGS_PER_TASK = 10
MAX_CONFIG_BYTES = 16 * 1024
"""The limit of one configuration, all its fields together."""

ProtocolVersion = Literal["1.0", "0.3"]


@dataclass(frozen=True, kw_only=True)
class Receiver:
    """A configuration, its owner, and the protocol version by which it was set."""

    owner: str
    version: ProtocolVersion
    config: TaskPushNotificationConfig

    @property
    def key(self) -> tuple[str, str]:
        """Return what no other receiver of the same task has."""
        return self.owner, self.config.id


class Receivers(PushNotificationConfigStore):
    """The receivers of notifications: at most ten a task, until it has ended."""

    def __init__(self) -> None:
        self._one_by_one = asyncio.Lock()

    async def open(self) -> None:
        """Make ready what holds them.

        Raises:
            StorageError: It cannot be used.
        """

    async def set_info(
        self,
        task_id: str,
        notification_config: TaskPushNotificationConfig,
        context: ServerCallContext,
    ) -> TaskPushNotificationConfig:
        """Keep a configuration, with the protocol version of the request that sets it.

        Raises:
            InvalidParamsError: The task has too many, it is too large, or a header would carry
                what headers cannot.
            StorageError: It cannot be written.
        """
        _check(notification_config)
        receiver = Receiver(
            owner=resolve_user_scope(context),
            version=version_of(context),
            config=normalize_push_notification_config(task_id, notification_config),
        )
        async with self._one_by_one:
            others = {each.key for each in await self.of(task_id)} - {receiver.key}
            if len(others) >= MAX_CONFIGS_PER_TASK:
                raise InvalidParamsError(
                    message=f"a task has at most {MAX_CONFIGS_PER_TASK} push notification configs"
                )
            await self._store(receiver)
        return receiver.config

    async def get_info(
        self, task_id: str, context: ServerCallContext
    ) -> list[TaskPushNotificationConfig]:
        """Return the configurations that the caller set for a task, the latest last."""
        owner = resolve_user_scope(context)
        return [each.config for each in await self.of(task_id) if each.owner == owner]

    async def get_info_for_dispatch(self, task_id: str) -> list[TaskPushNotificationConfig]:
        """Return the configurations of a task, regardless of who set them."""
        return [each.config for each in await self.of(task_id)]

    @abstractmethod
    async def of(self, task_id: str) -> list[Receiver]:
        """Return the receivers of a task, the latest last."""

    @abstractmethod
    async def task_ids(self) -> list[str]:
        """Return the tasks that have receivers, sorted."""

    @abstractmethod
    async def forget(self, task_id: str) -> None:
        """Drop all receivers of a task."""

    @abstractmethod
    async def _store(self, receiver: Receiver) -> None:
        """Add a receiver, in the place of the one with the same key."""


class ReceiversInMemory(Receivers):
    """Receivers that are gone when the process is."""

    def __init__(self) -> None:
        super().__init__()
        self._of_tasks: dict[str, dict[tuple[str, str], Receiver]] = {}

    async def of(self, task_id: str) -> list[Receiver]:
        """Return the receivers of a task, the latest last."""
        return list(self._of_tasks.get(task_id, {}).values())

    async def task_ids(self) -> list[str]:
        """Return the tasks that have receivers, sorted."""
        return sorted(self._of_tasks)

    async def forget(self, task_id: str) -> None:
        """Drop all receivers of a task."""
        self.drop(task_id)

    def drop(self, task_id: str) -> None:
        """Do the same as `forget`, where nothing can wait."""
        self._of_tasks.pop(task_id, None)

    async def delete_info(
        self, task_id: str, context: ServerCallContext, config_id: str | None = None
    ) -> None:
        """Drop one receiver of the caller's, or all of them."""
        owner = resolve_user_scope(context)
        left = {
            key: receiver
            for key, receiver in self._of_tasks.pop(task_id, {}).items()
            if key[0] != owner or config_id not in (None, key[1])
        }
        if left:
            self._of_tasks[task_id] = left

    async def _store(self, receiver: Receiver) -> None:
        of_task = self._of_tasks.setdefault(receiver.config.task_id, {})
        of_task.pop(receiver.key, None)
        of_task[receiver.key] = receiver


def version_of(context: ServerCallContext) -> ProtocolVersion:
    """Return the protocol version of a request; one that names none is of 0.3."""
    named = _named_version(context.state).strip().lstrip("vV")
    return "0.3" if not named or named.startswith("0") else "1.0"


def _named_version(state: Any) -> str:
    rpc = state.get("grpc_context")
    if rpc is None:
        headers = state.get("headers", {})
    else:
        headers = {key.lower(): value for key, value in rpc.invocation_metadata() or ()}
    return str(headers.get(VERSION_HEADER.lower(), ""))


def _check(config: TaskPushNotificationConfig) -> None:
    if config.ByteSize() > MAX_CONFIG_BYTES:
        raise InvalidParamsError(
            message=f"a push notification config has at most {MAX_CONFIG_BYTES} bytes"
        )
    auth = config.authentication
    for name, value in (
        ("token", config.token),
        ("authentication.scheme", auth.scheme),
        ("authentication.credentials", auth.credentials),
    ):
        if any(not " " <= character <= "~" for character in value):
            raise InvalidParamsError(message=f"{name} can hold visible ASCII characters only")
