"""Files of an answer, such as the page of a run: as artifacts where they are small."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterable
from pathlib import Path

from a2a.types import Part

from adk_agent.core.files import storage

MAX_FILE_BYTES = 5_000_000
"""The limit of a file that is sent."""
_TYPES = {".md": "text/markdown", ".jsonl": "application/x-ndjson", ".eval": "application/zip"}
_UNKNOWN = "application/octet-stream"


def file_part(path: Path) -> Part | None:
    """Return a file as a part with its name and media type; None if it is too large to be sent.

    Raises:
        StorageError: It cannot be read.
    """
    with storage(path):
        if path.stat().st_size > MAX_FILE_BYTES:
            return None
        return Part(raw=path.read_bytes(), media_type=_media_type(path), filename=path.name)


def _media_type(path: Path) -> str:
    return _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or _UNKNOWN


def not_sent(paths: Iterable[Path]) -> str:
    """Say which files were too large to be sent."""
    named = ", ".join(f"{path.parent.name}/{path.name}" for path in paths)
    return f"Too large to be sent, but kept where the service keeps its runs: {named}."


def without_folder(text: str, folder: Path) -> str:
    """Return a text in which files of a folder go without its path, which is nobody's business."""
    for shown in {str(folder), str(folder.absolute())}:
        text = text.replace(f"{shown}/", "")
    return text
