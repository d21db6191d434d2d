"""DataSet: the task data that a benchmark can have fetched."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

COMMIT = re.compile(r"[0-9a-f]{40}")
SHORT = 7
"""The digits of a commit that people are shown."""


@dataclass(frozen=True, kw_only=True)
class DataSet:
    """The published data of a benchmark, in one repository, of which one commit is known.

    Args:
        title: The data in words, for messages.
        commit: The commit that is fetched where no other is asked for: 40 hexadecimal digits.
        digest: `digest_of` its files.
        address: An archive of a commit, with `{commit}` in its place.
        kept: Matches the whole path of each file that is used, below `folder`.
        folder: The folder of the repository that the paths begin in, with a slash at its end;
            empty for the repository itself.
        variable: The environment variable that names a folder of these data, and goes before what
            was fetched.
    """

    title: str
    commit: str
    digest: str
    address: str
    kept: re.Pattern[str]
    folder: str
    variable: str

    def in_repository(self, path: str) -> str | None:
        """Return under which path a repository's file is kept; None: it is not used."""
        return self._kept(path, skipped=0)

    def in_archive(self, path: str) -> str | None:
        """Return the same of an archive's member, whose path may begin with a folder of any name."""
        return self._kept(path, skipped=0) or self._kept(path, skipped=1)

    def _kept(self, path: str, *, skipped: int) -> str | None:
        below = "/".join(PurePosixPath(path).parts[skipped:]).removeprefix(self.folder)
        return below if self.kept.fullmatch(below) else None

    def roots(self, folder: str) -> Iterator[str]:
        """Return the folders in which the paths may begin, of a local folder."""
        yield from dict.fromkeys((f"{folder}/{self.folder}".rstrip("/"), folder))


def digest_of(sha256_by_path: Mapping[str, str]) -> str:
    """Return one digest of many files: of the lines that `sha256sum` prints, sorted by path."""
    lines = [f"{digest}  {path}\n" for path, digest in sorted(sha256_by_path.items())]
    return f"sha256:{hashlib.sha256(''.join(lines).encode()).hexdigest()}"
