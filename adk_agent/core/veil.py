"""Veil: keeps what looks like a key, and every key that we know, out of what leaves the machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, JsonValue, SecretStr

from adk_agent.core.masking import MASK, may_hold_keys, without_keys

M = TypeVar("M", bound=BaseModel)
MIN_CHARACTERS = 8
"""A shorter secret is a placeholder such as `none` or `token`: it stands in half of all texts."""
IDENTIFIERS = frozenset(
    {
        "run_id",
        "trace_id",
        "step_id",
        "parent_step_id",
        "domain",
        "task_id",
        "task_ids",
        "termination",
        "basis",
        "evaluator",
        "schema_version",
    }
)
"""Fields by which things are found again: masked, they would name something else."""
WORDS = frozenset({"role", "requestor", "type"})
"""Keys of a message under which one of few words stands that its format knows."""
MESSAGE_KEYS = WORDS | {"content", "tool_calls", "id", "name", "arguments", "error"}
"""The keys of a message in the official format."""
_FROM_OUTSIDE = frozenset({"additional_attributes"})
"""Fields whose keys agents choose, though they are tables of texts."""
_MOST_OF_A_NAME = 100
"""Longer texts hardly come twice."""
_TEXTLESS = (int, float, bool, datetime)


class Veil:
    """Masks secrets in texts, values and models.

    A run on disk is masked already as far as its writers knew. What leaves the machine is looked at
    again, for the secrets of today's settings too.

    Of a model these stay as they are: the names of its fields, values that the field lists one by
    one, `IDENTIFIERS`, and the keys of tables, which name domains, tasks and the like. Of values
    that came from agents and models the keys are masked too, but for `MESSAGE_KEYS`, and all texts
    but those below `WORDS`.

    Args:
        secrets: What must not be seen anywhere, unless it has fewer than `MIN_CHARACTERS`.
    """

    def __init__(self, secrets: Iterable[SecretStr] = ()) -> None:
        values = {secret.get_secret_value() for secret in secrets}
        known = (value for value in values if len(value) >= MIN_CHARACTERS)
        self._known = sorted(known, key=lambda value: (-len(value), value))
        self._masked_name = lru_cache(maxsize=4_096)(self._masked)  # names stand in every step

    def text(self, text: str) -> str:
        """The text without secrets."""
        if len(text) < MIN_CHARACTERS:
            return text
        return self._masked_name(text) if len(text) <= _MOST_OF_A_NAME else self._masked(text)

    def _masked(self, text: str) -> str:
        for secret in self._known:
            text = text.replace(secret, MASK)
        return without_keys(text)

    def value(self, value: Any) -> Any:
        """A JSON value without secrets in its texts and its keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {
                key if key in MESSAGE_KEYS else self.text(key): self._below(key, item)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return type(value)(map(self.value, value))
        return value

    def _below(self, key: str, item: Any) -> Any:
        return item if key in WORDS and isinstance(item, str) else self.value(item)

    def model(self, model: M) -> M:
        """Return a model without secrets in its texts."""
        return self._walked(model) if self._may_hold_secrets(model) else model

    def _may_hold_secrets(self, model: BaseModel) -> bool:
        """Tell by a model's JSON whether to go through its texts, which takes five times as long."""
        try:
            text = model.model_dump_json()
        except ValueError:  # a lone surrogate, which UTF-8 cannot hold
            return True
        known = (json.dumps(secret, ensure_ascii=False)[1:-1] for secret in self._known)
        return any(secret in text for secret in known) or may_hold_keys(text)

    def _walked(self, model: M) -> M:
        fields = _veiled_fields(type(model))
        return model.model_copy(
            update={
                name: self.value(getattr(model, name))
                if is_outside
                else self._ours(getattr(model, name))
                for name, is_outside in fields.items()
            }
        )

    def _ours(self, value: Any) -> Any:
        """The value of a field: a text, models, or collections of them."""
        if isinstance(value, BaseModel):
            return self._walked(value)
        if isinstance(value, str) and not isinstance(value, Enum):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self._ours(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(map(self._ours, value))
        return value


@cache
def _veiled_fields(model: type[BaseModel]) -> dict[str, bool]:
    """The fields of a model that are looked at, and whether others chose the keys in them."""
    return {
        name: name in _FROM_OUTSIDE or _is_open(field.annotation)
        for name, field in model.model_fields.items()
        if name not in IDENTIFIERS and not _is_without_text(field.annotation)
    }


def _is_without_text(annotation: Any) -> bool:
    """Whether a type allows no text but values that it lists one by one."""
    if get_origin(annotation) is Literal or annotation in _TEXTLESS:
        return True
    parts = [part for part in get_args(annotation) if part not in (type(None), Ellipsis)]
    return bool(parts) and all(_is_without_text(part) for part in parts)


def _is_open(annotation: Any) -> bool:
    """Whether a type allows any JSON inside."""
    return annotation in (Any, JsonValue) or any(map(_is_open, get_args(annotation)))
