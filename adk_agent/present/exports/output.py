"""Output: one file of an export, and how it comes to disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from adk_agent.core.errors import RequestError
from adk_agent.core.files import storage, whole_file
from adk_agent.runs.store import refuse_own_file

_UNFIT = re.compile(r"[^A-Za-z0-9.]+")
_MAX_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Output:
    """A file of an export.

    Args:
        name: Its name, unless the caller names another.
        chunks: Its text, bit by bit; made while it is written, so that a run of any length fits.
    """

    name: str
    chunks: Iterable[str]


@dataclass(frozen=True, kw_only=True)
class Export:
    """The files of an export, and what must be said of them."""

    outputs: tuple[Output, ...]
    notes: tuple[str, ...] = ()
    """Sentences about what the export leaves out."""


def names_of(stem: str, suffix: str, labels: Sequence[str]) -> list[str]:
    """Return a file name for each label: the bare one where there is a single label."""
    if len(labels) == 1:
        return [f"{stem}{suffix}"]
    names: list[str] = []
    for number, label in enumerate(labels, start=1):
        words = _UNFIT.sub("-", label).strip("-.")[-_MAX_NAME:]
        name = f"{stem}-{words}{suffix}"
        names.append(name if name not in names else f"{stem}-{words}-{number}{suffix}")
    return names


def write_outputs(outputs: Sequence[Output], target: Path, *, named: bool) -> list[Path]:
    """Write every file, whole or not at all, and return their paths.

    Args:
        outputs: At least one.
        target: Where to: a folder, or the file itself where there is one output and it is `named`.
        named: Whether the caller named a file, if one is written, and not a folder.

    Raises:
        RequestError: Several files are to be written, and the target is a file; or it is one of a
            run's own.
        StorageError: One cannot be written.
    """
    if len(outputs) == 1 and named and not target.is_dir():
        paths = [target]
    elif target.is_file():
        raise RequestError(
            f"{len(outputs)} files are written, so --out must name a folder, not {str(target)!r}"
        )
    else:
        paths = [target / output.name for output in outputs]
    for path in paths:
        refuse_own_file(path)
    for path, output in zip(paths, outputs, strict=True):
        with storage(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.writelines(output.chunks)
    return paths


def refuse_others(outputs: Sequence[Output], target: Path) -> None:
    """Refuse folders with files that an earlier export left: they would be handed in as well.

    Raises:
        RequestError: There is one.
    """
    own = {target / output.name for output in outputs}
    for folder in {path.parent for path in own}:
        left = sorted(path for path in folder.glob("*") if path.is_file() and path not in own)
        if left:
            raise RequestError(
                f"{str(left[0])!r} is left of an earlier export: remove it, or name another folder "
                "with --out"
            )
