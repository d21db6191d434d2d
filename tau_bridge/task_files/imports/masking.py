"""Masks secrets in what was recorded, before it becomes a file that is passed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tau_bridge.redaction import MASK, Redactor, redact_keys


def masked(value: Any, redactor: Redactor) -> Any:
    """Return a JSON value without secrets: in its texts, and under keys that name one."""
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, Mapping):
        return {
            key: MASK
            if isinstance(each, str) and _names_secret(str(key))
            else masked(each, redactor)
            for key, each in value.items()
        }
    if isinstance(value, Sequence):
        return [masked(each, redactor) for each in value]
    return value


def _names_secret(key: str) -> bool:
    """Tell whether a field of this name holds a secret, by the rule for keys in JSON texts."""
    field = f'"{key}": "value"'
    return redact_keys(field) != field
