"""The data files that ship with the product: in the installed package, or in a checkout."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tau_bridge.errors import DataError, UnknownTaskError

M = TypeVar("M", bound=BaseModel)
Task = TypeVar("Task")

_PACKAGE = Path(__file__).parent
_PLACES = (_PACKAGE / "data", _PACKAGE.parent / "data")
"""An installed package holds them inside; a checkout beside the packages."""


@cache
def bundled_json(name: str) -> Any:
    """Return the content of a bundled JSON file. Read once; do not change it.

    Raises:
        DataError: it is missing or is no JSON, so the installation is broken.
    """
    for place in _PLACES:
        path = place / name
        if path.is_file():
            try:
                return json.loads(path.read_bytes())
            except ValueError as exc:
                raise DataError(f"{str(path)!r} is not JSON ({exc}): install again") from exc
    raise DataError(f"the bundled file {name!r} is missing: install again")


def bundled_records(key: str, model: type[M]) -> tuple[M, ...]:
    """Return the records under `key` of the bundled file of that name, in their order.

    Raises:
        DataError: The bundled file cannot be used.
    """
    try:
        return tuple(map(model.model_validate, bundled_json(f"{key}.json")[key]))
    except (ValidationError, KeyError, TypeError) as exc:
        raise DataError(f"the bundled {key} cannot be read: {exc}") from exc


def one_of(domain: str, tasks: Mapping[str, Task], task_id: str) -> Task:
    """Return one task of a bundled domain.

    Raises:
        UnknownTaskError: No task has this id.
    """
    if task_id not in tasks:
        raise UnknownTaskError(domain, task_id, tasks)
    return tasks[task_id]


def revision_of_records(records: Iterable[BaseModel]) -> str:
    """Return a hash of all records, to tell apart what different versions ask."""
    return revision_of(b"[%b]" % b",".join(each.model_dump_json().encode() for each in records))


def revision_of(content: bytes) -> str:
    """Return a hash of the content of a bundled file, to tell apart what different versions ask."""
    return f"sha256:{hashlib.sha256(content).hexdigest()[:16]}"
