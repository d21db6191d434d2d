"""ReceiversInFile: the receivers of notifications, in the SQLite file that keeps the tasks.

The table is a2a-sdk's, and so is what its rows hold: a configuration as JSON in the form of the
protocol version that stands beside it. a2a-sdk's own store says of all rows that they are of 1.0,
and logs what it cannot read.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

from a2a.compat.v0_3.model_conversions import (
    compat_push_notification_config_model_to_core,
    core_to_compat_push_notification_config_model,
)
from a2a.server.context import ServerCallContext
from a2a.server.models import Base, PushNotificationConfigModel, TaskModel
from a2a.server.owner_resolver import resolve_user_scope
from a2a.types import TaskPushNotificationConfig
from google.protobuf.json_format import MessageToJson, Parse, ParseError
from sqlalchemy import delete, insert, literal_column, select, type_coerce
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.types import NullType

from adk_agent.core.errors import StorageError
from adk_agent.service.receivers import Receiver, Receivers

logger = logging.getLogger(__name__)

_TABLE: Any = PushNotificationConfigModel.__table__
_COLUMNS = _TABLE.c
_ORDER: Any = literal_column("rowid")
_ANY_TYPE = NullType()
"""SQLite keeps any type in any column; what is no text, or no bytes, shall not break the query."""


class ReceiversInFile(Receivers):
    """Receivers that outlive the process.

    Nobody else writes the file while this is open.

    Args:
        engine: Of the file that keeps the tasks; its maker disposes of it.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        super().__init__()
        self._engine = engine
        self._tasks: set[str] = set()  # most tasks have no receiver, and need no query

    async def open(self) -> None:
        """Make the table where the file has none, and drop the receivers whose task is gone.

        Raises:
            StorageError: The file cannot be used.
        """
        gone = delete(_TABLE).where(_COLUMNS.task_id.not_in(select(TaskModel.id)))
        async with self._transaction() as connection:
            await connection.run_sync(Base.metadata.create_all, tables=[_TABLE])
            await connection.execute(gone)
        self._tasks = set(await self.task_ids())

    async def of(self, task_id: str) -> list[Receiver]:
        """Return the receivers of a task, the latest last, without rows that cannot be read."""
        if task_id not in self._tasks:
            return []
        wanted = (_COLUMNS.owner, _COLUMNS.protocol_version, _COLUMNS.config_data)
        query = (
            select(*(type_coerce(column, _ANY_TYPE) for column in wanted))
            .where(_COLUMNS.task_id == task_id)
            .order_by(_ORDER)
        )
        async with self._transaction() as connection:
            rows: Any = (await connection.execute(query)).all()
        found = [_receiver(task_id, *row) for row in rows]
        return [receiver for receiver in found if receiver is not None]

    async def task_ids(self) -> list[str]:
        """Return the tasks that have receivers, sorted."""
        query = select(type_coerce(_COLUMNS.task_id, _ANY_TYPE)).distinct()
        async with self._transaction() as connection:
            found: Any = (await connection.execute(query)).scalars().all()
        return sorted(task_id for task_id in found if isinstance(task_id, str))

    async def forget(self, task_id: str) -> None:
        """Drop all receivers of a task."""
        if task_id in self._tasks:
            self._tasks.discard(task_id)  # first: one that is set meanwhile adds it again
            await self._write(delete(_TABLE).where(_COLUMNS.task_id == task_id))

    async def delete_info(
        self, task_id: str, context: ServerCallContext, config_id: str | None = None
    ) -> None:
        """Drop one receiver of the caller's, or all of them."""
        owner = resolve_user_scope(context)
        of_caller = delete(_TABLE).where(_COLUMNS.task_id == task_id, _COLUMNS.owner == owner)
        await self._write(
            of_caller if config_id is None else of_caller.where(_COLUMNS.config_id == config_id)
        )

    async def _store(self, receiver: Receiver) -> None:
        row = {
            "task_id": receiver.config.task_id,
            "config_id": receiver.config.id,
            "owner": receiver.owner,
        }
        self._tasks.add(receiver.config.task_id)
        old = delete(_TABLE).where(*(_COLUMNS[name] == value for name, value in row.items()))
        data = {"config_data": _data(receiver), "protocol_version": receiver.version}
        await self._write(old, insert(_TABLE).values(**row, **data))

    async def _write(self, *statements: Any) -> None:
        async with self._transaction() as connection:
            for statement in statements:
                await connection.execute(statement)

    @contextlib.asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            path = self._engine.url.database
            raise StorageError(
                f"cannot use the push notification configs in {path!r}: {type(error).__name__}; "
                "mend the file, or choose another one"
            ) from error


def _data(receiver: Receiver) -> bytes:
    if receiver.version == "1.0":
        return MessageToJson(receiver.config).encode()
    config = receiver.config
    model = core_to_compat_push_notification_config_model(config.task_id, config, receiver.owner)
    return bytes(model.config_data)


def _receiver(task_id: str, owner: object, version: object, data: object) -> Receiver | None:
    config = _config(task_id, version, data)
    if config is None or not isinstance(owner, str):
        # What cannot be read may be a token, so the log has neither it nor what is wrong with it.
        logger.warning("task %s: a push notification config in the file cannot be read", task_id)
        return None
    return Receiver(owner=owner, version="1.0" if version == "1.0" else "0.3", config=config)


def _config(task_id: str, version: object, data: object) -> TaskPushNotificationConfig | None:
    if not isinstance(data, bytes):
        return None
    try:
        if version == "1.0":
            config = Parse(data, TaskPushNotificationConfig())
        else:
            config = compat_push_notification_config_model_to_core(data.decode(), task_id)
    except (ParseError, ValueError, RecursionError):  # pydantic's, and of UTF-8, are ValueErrors
        return None
    return config if config.id and config.url and config.task_id == task_id else None
