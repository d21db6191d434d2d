"""Members of a local folder: a checkout without its history, or a folder of data alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from tau_bridge.data_sets.description import DataSet
from tau_bridge.data_sets.limits import FetchLimits
from tau_bridge.data_sets.members import CHUNK, Member, MemberKind
from tau_bridge.errors import FetchError


def members_of_folder(folder: Path, data_set: DataSet, limits: FetchLimits) -> Iterator[Member]:
    """Yield the files that are used of the first place in a folder that has any.

    Links to files are followed: the folder is of a person at this machine, who can play it with
    these links as well.

    Raises:
        FetchError: No place has any, or the folder has too many.
        OSError: The folder cannot be read.
    """
    for root in map(Path, data_set.roots(str(folder))):
        found = _found(root, data_set, limits.members)
        if found:
            for name, path in sorted(found.items()):
                kind: MemberKind = "file" if path.is_file() else "special"
                yield Member(name, kind, partial(_chunks, path))
            return
    raise FetchError(
        f"it holds none of the files of {data_set.title}: name a checkout, or the folder that "
        f"{data_set.variable} would name"
    )


def _found(root: Path, data_set: DataSet, most: int) -> dict[str, Path]:
    """Return the files below a folder that are used, by their paths in it."""
    found = {}
    for number, path in enumerate(root.rglob("*"), start=1):
        if number > most:
            raise FetchError(f"there are more than {most} files in it: name the checkout itself")
        name = path.relative_to(root).as_posix()
        if data_set.kept.fullmatch(name):
            found[name] = path
    return found


def _chunks(path: Path) -> Iterable[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk
