"""Differences between two definitions of a task."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from tau_bridge.messages import parse_messages, to_records
from tau_bridge.tau2.tasks import DEFAULT_BASIS, OfficialComponentName, Task

_NAMES = ("initial_state", "evaluation_criteria", "user_scenario", "ticket")
"""Everything of a task but its description, which is for readers of the data alone."""
_PLAYED = ("user_scenario", "ticket")
"""Parts that a conversation depends on, but not the score of one that is over."""
_COUNTED: Mapping[str, OfficialComponentName] = {
    "evaluation_criteria.communicate_info": "COMMUNICATE",
    "evaluation_criteria.env_assertions": "ENV_ASSERTION",
    "evaluation_criteria.nl_assertions": "NL_ASSERTION",
}
"""Parts that decide only where the reward counts their component."""


def changed_parts(before: Task, now: Task) -> tuple[str, ...]:
    """Return the parts of a definition that differ, such as `evaluation_criteria.actions`."""
    old, new = _parts(before), _parts(now)
    return tuple(sorted(part for part in {*old, *new} if old.get(part) != new.get(part)))


def deciding(parts: Iterable[str], before: Task, now: Task) -> tuple[str, ...]:
    """Return those parts that may change the reward of a conversation that is over."""
    counted = {*_basis(before), *_basis(now)}
    return tuple(
        part
        for part in parts
        if part.split(".")[0] not in _PLAYED and (part not in _COUNTED or _COUNTED[part] in counted)
    )


def _basis(task: Task) -> tuple[OfficialComponentName, ...]:
    criteria = task.evaluation_criteria
    return criteria.reward_basis if criteria is not None else DEFAULT_BASIS


def _parts(task: Task) -> dict[str, Any]:
    """Return the parts that say something; what is absent, null or empty says nothing.

    Except for no actions: nothing is replayed where there are neither actions nor assertions, and
    `[]` is not that.
    """
    record = task.model_dump(mode="json")
    found: dict[str, Any] = {}
    for name in _NAMES:
        value = record[name]
        inner = value if isinstance(value, Mapping) else {"": value}
        for key, part in inner.items():
            if part or (part is not None and key in ("actions", "env_assertions")):
                found[f"{name}.{key}".removesuffix(".")] = _comparable(key, part)
    return found


def _comparable(key: str, part: Any) -> Any:
    if (
        key == "message_history"
    ):  # kept as written, and files of different versions write other keys
        with contextlib.suppress(ValidationError):
            return to_records(parse_messages(part))
    return sorted(part) if key == "reward_basis" else part
