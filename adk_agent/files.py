"""Files that are written whole or not at all, and errors that name them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from adk_agent.errors import StorageError


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
