"""Masks secrets in what was recorded, before it becomes a file that is passed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from tau_bridge.redaction import MASK, Redactor, names_secret

T = TypeVar("T")


def masked(value: T, redactor: Redactor) -> T:
    """Return a value without secrets: in its texts, and under keys that name one.

    A value is of JSON, or a dataclass of such values.
    """
    return cast("T", _masked(value, redactor))


def _masked(value: object, redactor: Redactor) -> object:
    if isinstance(value, str):
        return redactor.text(value)
    if isinstance(value, Mapping):
        return {
            key: MASK
            if isinstance(each, str) and names_secret(str(key))
            else _masked(each, redactor)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return type(value)(_masked(each, redactor) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: _masked(getattr(value, f.name), redactor) for f in fields(value)}
        return replace(value, **changed)
    return value
