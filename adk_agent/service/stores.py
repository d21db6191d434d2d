"""TaskStores: where tasks are kept, in memory or in an SQLite file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from a2a.server.context import ServerCallContext
from a2a.server.owner_resolver import resolve_user_scope
from a2a.server.tasks import InMemoryTaskStore, TaskStore
from a2a.types import Task, TaskState

from adk_agent.core.errors import StorageError
from adk_agent.service.callers import Caller
from adk_agent.service.conversation.history import ENDED_STATES
from adk_agent.service.receivers import Receivers, ReceiversInMemory

if TYPE_CHECKING:
    from a2a.server.tasks import DatabaseTaskStore

KEPT_IN_MEMORY = 500
"""Tasks that have ended, or wait for an answer, that a store in memory keeps for each caller."""
BYTES_IN_MEMORY = 32 * 2**20
"""Bytes of them, by their size on the wire."""
_AT_REST = ENDED_STATES | {TaskState.TASK_STATE_INPUT_REQUIRED}


def new_stores(path: Path | None) -> tuple[TaskStore, Receivers]:
    """Return a store of tasks, in memory or in a file, and the receivers of its notifications.

    What is in memory forgets the receivers of the tasks that it drops. A file is not opened yet,
    and its receivers have to be opened after it.

    Raises:
        StorageError: The file of an SQLite store cannot be used. The message says why.
    """
    if path is None:
        receivers = ReceiversInMemory()
        return BoundedTaskStore(KEPT_IN_MEMORY, receivers.drop), receivers
    _make_sure_that_usable(path)
    from a2a.server.tasks import DatabaseTaskStore

    from adk_agent.service.kept_receivers import ReceiversInFile  # which imports SQLAlchemy

    engine = _engine(path)
    return DatabaseTaskStore(engine), ReceiversInFile(engine)


@asynccontextmanager
async def opened(store: TaskStore, path: Path | None) -> AsyncIterator[None]:
    """Hold what the store needs while the block lasts.

    Raises:
        StorageError: Another service uses the same file.
    """
    if path is None:
        yield
        return
    database: DatabaseTaskStore = store  # type: ignore[assignment]  # it has a path
    with _locked(path):
        try:
            await database.initialize()
            yield
        finally:
            await database.engine.dispose()


def context_of(owner: str) -> ServerCallContext:
    """Return a context that sees the tasks of this owner; empty: those of unnamed callers."""
    return ServerCallContext(user=Caller(owner)) if owner else ServerCallContext()


@dataclass
class _AtRest:
    """The tasks of one caller that are at rest, the one that rests longest first, with their sizes."""

    sizes: dict[str, int] = field(default_factory=dict)
    with_results: set[str] = field(default_factory=set)
    total: int = 0

    def remove(self, task_id: str) -> None:
        self.total -= self.sizes.pop(task_id, 0)
        self.with_results.discard(task_id)

    def add(self, task: Task) -> None:
        self.sizes[task.id] = task.ByteSize()
        self.total += self.sizes[task.id]
        if task.artifacts:
            self.with_results.add(task.id)

    def oldest(self) -> str:
        """Return the task to drop: one without results if there is one, and never the latest."""
        *others, _ = self.sizes
        return next((each for each in others if each not in self.with_results), others[0])


class BoundedTaskStore(InMemoryTaskStore):
    """Tasks in memory. Of those that have ended or wait for an answer, each caller's latest are kept.

    What works is never dropped, nor is the latest that rests. Answers go before evaluations, so
    that five hundred greetings take no result away.

    Args:
        kept: How many of each caller.
        on_drop: Called with the id of every task that is dropped.
        kept_bytes: How many bytes of each caller.
    """

    def __init__(
        self,
        kept: int,
        on_drop: Callable[[str], None] = lambda _: None,
        *,
        kept_bytes: int = BYTES_IN_MEMORY,
    ) -> None:
        super().__init__()
        self._kept, self._kept_bytes = kept, kept_bytes
        self._on_drop = on_drop
        self._at_rest: defaultdict[str, _AtRest] = defaultdict(_AtRest)

    async def save(self, task: Task, context: ServerCallContext) -> None:
        """Keep a task, and drop others of its caller where they become too many, or too large."""
        await super().save(task, context)
        owner = resolve_user_scope(context)
        mine = self._at_rest[owner]
        mine.remove(task.id)
        if task.status.state not in _AT_REST:
            return
        mine.add(task)
        while len(mine.sizes) > 1 and (
            len(mine.sizes) > self._kept or mine.total > self._kept_bytes
        ):
            oldest = mine.oldest()
            mine.remove(oldest)
            await self.delete(oldest, context_of(owner))
            self._on_drop(oldest)


def _engine(path: Path) -> Any:
    from sqlalchemy import URL, event
    from sqlalchemy.ext.asyncio import create_async_engine

    # One connection: SQLite has one writer, and waiting in line here beats "database is locked".
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        pool_size=1,
        max_overflow=0,
        hide_parameters=True,  # errors go to the log, and tokens are among the parameters
    )

    @event.listens_for(engine.sync_engine, "connect")
    def _tune(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        # A crash of this process loses nothing; a power cut may lose the last moments.
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute("PRAGMA synchronous=NORMAL")
        cursor.close()

    return engine


def _make_sure_that_usable(path: Path) -> None:
    from a2a.server.models import Base  # which imports SQLAlchemy

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            # Receivers' tokens will be in it, so others on this machine cannot read it.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        with contextlib.closing(sqlite3.connect(path)) as connection:
            # Fails for a read-only file, and for one of another format.
            connection.execute("BEGIN IMMEDIATE")
            foreign = [
                name
                for name, table in Base.metadata.tables.items()
                if not _is_ours(connection, name, {*table.c.keys()})
            ]
            connection.rollback()
    except (OSError, sqlite3.Error) as error:
        raise StorageError(f"cannot keep tasks in {str(path)!r}: {error}") from error
    if foreign:
        raise StorageError(
            f"cannot keep tasks in {str(path)!r}: its table `{foreign[0]}` is not one of this "
            "version; choose another file"
        )


def _is_ours(connection: sqlite3.Connection, table: str, needed: set[str]) -> bool:
    """Tell whether a table has the columns that are needed, or does not exist yet."""
    query = "SELECT name FROM pragma_table_info(?)"
    columns = {row[0] for row in connection.execute(query, (table,))}
    return not columns or columns >= needed


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the file's lock; the system lets go of it whatever becomes of the process."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        holder = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise StorageError(f"cannot lock {str(path)!r}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(holder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StorageError(
                f"another service keeps its tasks in {str(path)!r}; choose another file"
            ) from None
        yield
    finally:
        os.close(holder)
