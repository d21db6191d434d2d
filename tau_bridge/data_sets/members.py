"""Members: the files of a source, and the one place that writes those which are used."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from tau_bridge.data_sets.description import digest_of
from tau_bridge.data_sets.limits import FetchLimits
from tau_bridge.errors import FetchError

CHUNK = 1 << 18
_READ_ONLY = 0o444
_SHOWN = 120

MemberKind = Literal["file", "link", "special"]
"""`special`: a device, a pipe or a sparse file."""


@dataclass(frozen=True)
class Member:
    """One entry of a source, but folders.

    Args:
        name: Its path, as the source has it.
        kind: What it is.
        chunks: Gives its content, once, and before the next member is asked for.
    """

    name: str
    kind: MemberKind
    chunks: Callable[[], Iterable[bytes]]


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The files that were written: how many, their bytes, and the digest of all."""

    files: int
    bytes: int
    digest: str


def receive(
    members: Iterable[Member],
    kept_path: Callable[[str], str | None],
    folder: Path,
    limits: FetchLimits,
) -> Receipt:
    """Write the files of a source that are used, and nothing else of it.

    Args:
        members: The source.
        kept_path: Returns the path below `folder` that a member is kept under; None: it is not.
        folder: A new folder. It may hold a part of the files where this raises.
        limits: The bounds.

    Raises:
        FetchError: The source is hostile, too large, or has none of the files.
        OSError: A file cannot be written.
    """
    digests: dict[str, str] = {}
    taken: set[str] = set()
    total = 0
    for number, member in enumerate(members, start=1):
        if number > limits.members:
            raise FetchError(
                f"there are more than {limits.members} files in it: it is no task data"
            )
        _require_harmless(member.name)
        path = kept_path(member.name)
        if path is None:
            continue
        if member.kind != "file":
            what = "a link" if member.kind == "link" else "a device or another special file"
            raise FetchError(f"{_shown(member.name)} in it is {what}, where a file belongs")
        if path.casefold() in taken:  # there are file systems for which these are one file
            raise FetchError(f"{_shown(member.name)} is in it twice")
        taken.add(path.casefold())
        size, digests[path] = _write(member, folder / path, limits.kept_bytes - total)
        total += size
    if not digests:
        raise FetchError("there is none of the files in it that are used")
    for path in digests:
        _flush(folder / path)
    return Receipt(files=len(digests), bytes=total, digest=digest_of(digests))


def digest_of_folder(folder: Path, kept_path: Callable[[str], str | None]) -> str:
    """Return the digest of the files of a folder that are used.

    Raises:
        OSError: One cannot be read.
    """
    digests = {}
    for path in folder.rglob("*"):
        kept = kept_path(path.relative_to(folder).as_posix())
        if kept is not None and path.is_file():
            with path.open("rb") as file:
                digests[kept] = hashlib.file_digest(file, "sha256").hexdigest()
    return digest_of(digests)


def _require_harmless(name: str) -> None:
    """Refuse a path that leads elsewhere, or that a terminal or a log would obey.

    Such a member would not be written anyhow, but a source that has one is not what it should be.
    """
    if any(ord(char) < 32 or ord(char) == 127 or "\ud800" <= char <= "\udfff" for char in name):
        raise FetchError(f"{_shown(name)} in it has control characters, or no UTF-8, in its name")
    path = PurePosixPath(name)
    if not name or path.is_absolute() or ".." in path.parts:
        raise FetchError(f"{_shown(name)} in it leads out of the folder that it belongs in")


def _write(member: Member, path: Path, most: int) -> tuple[int, str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as file:
        for chunk in member.chunks():
            size += len(chunk)
            if size > most:
                raise FetchError(f"{_shown(member.name)} in it makes the files too large together")
            digest.update(chunk)
            file.write(chunk)
    path.chmod(_READ_ONLY)
    return size, digest.hexdigest()


def _flush(path: Path) -> None:
    """Put a file or a folder on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_folders(folder: Path) -> None:
    """Put the entries of a folder, and of those in it, on the disk.

    Raises:
        OSError: They cannot be.
    """
    for path in (folder, *(each for each in folder.rglob("*") if each.is_dir())):
        _flush(path)


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")
