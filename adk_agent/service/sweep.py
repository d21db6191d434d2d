"""sweep: ends the tasks that a killed service left running, and drops those that are old.

A task whose question is still open goes on waiting.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from a2a.helpers import new_text_message
from a2a.server.tasks import TaskStore
from a2a.types import Artifact, Part, Task, TaskState, TaskStatus
from google.protobuf.timestamp_pb2 import Timestamp

from adk_agent.service.conversation import artifacts
from adk_agent.service.conversation.history import ENDED_STATES, is_open, run_id_of
from adk_agent.service.conversation.open_questions import EXPIRED, question_of
from adk_agent.service.stores import context_of

if TYPE_CHECKING:
    from a2a.server.tasks import DatabaseTaskStore

logger = logging.getLogger(__name__)

ArtifactOf = Callable[[str], Awaitable[list[Part] | None]]
"""The parts that tell of a run's finished trials, by its id; None where there is nothing to tell."""

KEPT_DAYS = 90
"""Time that a finished task stays in a file. Its run directory stays until someone removes it."""
SWEPT = "The service ended while this evaluation ran."
WITH_TRIALS = " The trials that were finished are attached."
_ENDED = sorted(TaskState.Name(state) for state in ENDED_STATES)


async def nothing(run_id: str) -> list[Part] | None:  # noqa: ARG001 - ArtifactOf
    """No artifact, whatever the run."""
    return None


async def sweep(store: TaskStore, artifact_of: ArtifactOf, now: Callable[[], datetime]) -> int:
    """Make every task FAILED that was at work, and drop those that ended `KEPT_DAYS` ago.

    A task whose question nobody answered in time is canceled.

    Args:
        store: A store in memory starts empty, so only one on disk has any.
        artifact_of: Makes the artifact of what was finished.
        now: The time of the failure.

    Returns:
        How many were at work.
    """
    if not hasattr(store, "engine"):
        return 0
    database: DatabaseTaskStore = store  # type: ignore[assignment]  # only that has an engine
    await _drop_old(database, now() - timedelta(days=KEPT_DAYS))
    failed = 0
    for owner, task_id in await _left(database):
        context = context_of(owner)
        task = await store.get(task_id, context)
        if task is None or is_open(task, now()):
            continue
        if question_of(task) is not None:
            await store.save(_ended(task, TaskState.TASK_STATE_CANCELED, EXPIRED, now()), context)
            continue
        failed += 1
        parts = await finished_part(run_id_of(task), artifact_of)
        await store.save(failed_task(task, SWEPT, parts, now()), context)
    if failed:
        logger.warning("%d tasks that a stopped service left running are failed now", failed)
    return failed


async def _drop_old(store: DatabaseTaskStore, before: datetime) -> None:
    from sqlalchemy import delete

    model: Any = store.task_model
    until = before.astimezone(UTC).replace(tzinfo=None)  # the column has no time zone
    old = delete(model).where(_state_of(model).in_(_ENDED), model.last_updated < until)
    async with store.async_session_maker.begin() as session:
        done: Any = await session.execute(old)
    if done.rowcount:
        logger.info("%d tasks that ended over %d days ago are dropped", done.rowcount, KEPT_DAYS)


async def _left(store: DatabaseTaskStore) -> list[tuple[str, str]]:
    from sqlalchemy import select

    model: Any = store.task_model
    statement = select(model.owner, model.id).where(_state_of(model).not_in(_ENDED))
    async with store.async_session_maker() as session:
        rows = (await session.execute(statement)).all()
    return sorted((owner, task_id) for owner, task_id in rows)


def _state_of(model: Any) -> Any:
    return model.status["state"].as_string()


def failed_task(task: Task, reason: str, parts: list[Part], now: datetime) -> Task:
    """Return the same task, failed: with the reason, and what was finished as its artifact."""
    if parts:
        name = f"{task.id}-{artifacts.NAME}"
        task.artifacts.append(Artifact(artifact_id=name, name=artifacts.NAME, parts=parts))
    text = reason + (WITH_TRIALS if parts else "")
    return _ended(task, TaskState.TASK_STATE_FAILED, text, now)


def _ended(task: Task, state: TaskState, text: str, now: datetime) -> Task:
    message = new_text_message(text, context_id=task.context_id, task_id=task.id)
    time = Timestamp()
    time.FromDatetime(now)
    if task.status.HasField("message"):
        task.history.append(task.status.message)
    task.status.CopyFrom(TaskStatus(state=state, message=message, timestamp=time))
    return task


async def finished_part(run_id: str | None, artifact_of: ArtifactOf) -> list[Part]:
    """Return the parts of a run's artifact; none where there is no run, or it cannot be read."""
    if run_id is None:
        return []
    try:
        return await artifact_of(run_id) or []
    except Exception:
        # One unreadable run must not keep the service from starting, nor other tasks from ending.
        logger.exception("what was finished of run %s cannot be read", run_id)
        return []
