"""Files that are written whole or not at all, and errors that name them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from adk_agent.errors import StorageError

M = TypeVar("M", bound=BaseModel)
SCHEMA = 1
"""Of the files of a run. It grows when a version before would misread what is written."""


@contextmanager
def storage(path: Path) -> Iterator[None]:
    """What the operating system refuses inside is a StorageError that names `path`."""
    try:
        yield
    except OSError as error:
        msg = f"cannot use {str(path)!r}: {error.strerror or error}"
        raise StorageError(msg) from error


def write_whole(path: Path, text: str) -> None:
    """Write a file so that a reader sees the old text or the new one, and never a part.

    Raises:
        StorageError: It cannot be written.
    """
    draft = path.with_name(path.name + ".part")
    with storage(path):
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)  # noqa: PTH105 - says that an existing file is replaced


class _Versioned(BaseModel):
    schema_version: int = SCHEMA


def read_kept(path: Path, kind: type[M], what: str) -> M:
    """What a file holds, as it was written by this version or one before.

    Args:
        path: The file.
        kind: What it holds.
        what: The same in words, for the message.

    Raises:
        StorageError: It is not there, holds something else, or was written by a newer version.
    """
    with storage(path):
        text = path.read_bytes()
    _refuse_newer(path, text)
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        msg = f"{str(path)!r} is not a {what} of this version: {error.error_count()} errors"
        raise StorageError(msg) from error


def _refuse_newer(path: Path, text: bytes) -> None:
    try:
        schema = _Versioned.model_validate_json(text).schema_version
    except ValidationError:
        return  # whoever reads the whole says what is wrong with it
    if schema > SCHEMA:
        raise StorageError(
            f"{str(path)!r} was written by a newer greenroom (schema {schema}, this one reads up "
            f"to {SCHEMA}): update greenroom"
        )
