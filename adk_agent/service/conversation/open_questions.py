"""Questions that the service asked: kept in the metadata of tasks that are `input-required`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from a2a.types import Task, TaskState
from google.protobuf.json_format import MessageToDict
from pydantic import ValidationError

from adk_agent.requests.intent import Question
from tau_bridge.integers import restore_integers

logger = logging.getLogger(__name__)

QUESTION = "question"
"""Key of a task's metadata that holds the `Question` which it asked last."""
OPEN_HOURS = 24
"""Time in which a question can be answered."""
EXPIRED = (
    f"The question was open for more than {OPEN_HOURS} hours, so nothing was done. Send the request "
    "again."
)


def question_metadata(question: Question) -> dict[str, Any]:
    """Return the metadata of a task that asks a question."""
    return {QUESTION: question.model_dump(mode="json")}


def question_of(task: Task | None) -> Question | None:
    """Return the question that a task waits to be answered; None if it does not wait."""
    if task is None or task.status.state != TaskState.TASK_STATE_INPUT_REQUIRED:
        return None
    value = MessageToDict(task.metadata).get(QUESTION)
    if not isinstance(value, Mapping):
        return None
    try:
        return Question.model_validate(restore_integers(value))
    except ValidationError:
        # An earlier version may have asked it.
        logger.warning("the question of task %s cannot be read", task.id)
        return None


def is_expired(task: Task, now: datetime) -> bool:
    """Tell whether a task has waited for too long."""
    asked = task.status.timestamp.ToDatetime(tzinfo=UTC)
    return now - asked > timedelta(hours=OPEN_HOURS)
