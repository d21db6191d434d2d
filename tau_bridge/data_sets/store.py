"""DataStore: fetched data on disk, in one folder for each commit, and which of them are played.

    <folder>/<name>/<commit>/            the files, and `origin.json`
    <folder>/<name>/default              the commit that is played
    <folder>/<name>/.work/               downloads, and what is being made; unused without a lock
    <folder>/<name>/.lock                held by who changes any of it

A folder of a commit appears whole or not at all, and so does the name of the default.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from tau_bridge.data_sets.description import COMMIT, SHORT
from tau_bridge.data_sets.members import flush_folders
from tau_bridge.errors import DataError, FetchedDataError

DATA_DIR_VARIABLE = "GREENROOM_DATA_DIR"
ORIGIN = "origin.json"
_DEFAULT, _WORK, _LOCK = "default", ".work", ".lock"
_LEAST_DIGITS = 7

Assurance = Literal["digest", "git", "archive", "claimed"]
"""Evidence that files are those of a commit. `digest`: Greenroom knows the digest. `git`:
git read them from the commit. `archive`: the archive names the commit. `claimed`: a person did."""


class Origin(BaseModel):
    """A record of what was fetched, and from where."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    commit: str = Field(pattern=COMMIT.pattern)
    digest: str
    assurance: Assurance
    source: str
    fetched_at: AwareDatetime
    files: int
    bytes: int


class FetchedData:
    """The data of one commit, in their folder."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        self.folder = folder
        self.origin = origin

    def label(self, project: str) -> str:
        """Return the project and the commit, for results."""
        said = f"{project} {self.origin.commit[:SHORT]}"
        return f"said to be {said}" if self.origin.assurance == "claimed" else said


class DataStore:
    """Everything that was fetched for one benchmark.

    Args:
        root: The folder of all fetched data.
        name: The benchmark's.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.folder = root.absolute() / name
        self._work = self.folder / _WORK

    # -- looking ---------------------------------------------------------------------------------

    def default(self) -> FetchedData | None:
        """Return the data that are played; None where none were fetched.

        Raises:
            FetchedDataError: They are not there any more, or cannot be read.
        """
        commit = self.default_commit()
        return None if commit is None else self.get(commit)

    def default_commit(self) -> str | None:
        """Return the commit that is played; None where none was fetched.

        Raises:
            FetchedDataError: What names it cannot be read.
        """
        path = self.folder / _DEFAULT
        try:
            text = path.read_text("ascii").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise FetchedDataError(f"{str(path)!r} cannot be read: {error}") from error
        if COMMIT.fullmatch(text) is None:
            raise FetchedDataError(
                f"{str(path)!r} names no commit: choose one with greenroom data use {self.name}"
            )
        return text

    def get(self, commit: str) -> FetchedData:
        """Return the data of a commit.

        Raises:
            FetchedDataError: They are not there, or cannot be read.
        """
        folder = self.folder / commit
        try:
            origin = Origin.model_validate_json((folder / ORIGIN).read_bytes())
        except (OSError, ValidationError) as error:
            why = "is missing" if isinstance(error, FileNotFoundError) else "cannot be read"
            raise FetchedDataError(
                f"the data that were fetched for {self.name} are damaged: {str(folder / ORIGIN)!r} "
                f"{why}; fetch them again (greenroom data fetch {self.name} --commit {commit}), or "
                f"go without them (greenroom data remove {self.name})"
            ) from error
        return FetchedData(folder, origin)

    def commits(self) -> list[str]:
        """Return the commits that are there, whole or damaged, sorted."""
        if not self.folder.is_dir():
            return []
        return sorted(each.name for each in self.folder.iterdir() if COMMIT.fullmatch(each.name))

    def find(self, digits: str) -> str:
        """Return the one commit that begins with these digits.

        Raises:
            DataError: None does, or several do.
        """
        known = self.commits()
        found = [each for each in known if each.startswith(digits.lower())]
        if len(digits) < _LEAST_DIGITS or len(found) != 1:
            there = ", ".join(each[:12] for each in known) or "none"
            raise DataError(
                f"{digits!r} names no commit that was fetched for {self.name}, by {_LEAST_DIGITS} "
                f"digits or more; there is {there}"
            )
        return found[0]

    # -- changing; under the lock ----------------------------------------------------------------

    @contextmanager
    def locked(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Keep other processes from changing these data; waits for one that does.

        Args:
            waiting: Called once before it waits.

        Raises:
            OSError: The folder cannot be made or locked.
        """
        self._work.mkdir(parents=True, exist_ok=True)
        with (self.folder / _LOCK).open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            self._sweep()
            yield

    def _sweep(self) -> None:
        """Remove what a process left that was killed; partial downloads stay."""
        for left in self._work.glob("draft-*"):
            shutil.rmtree(left, ignore_errors=True)

    @property
    def downloads(self) -> Path:
        """The folder of partial downloads."""
        return self._work

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Make an empty folder beside the data, removed at the end unless it was kept.

        Raises:
            OSError: It cannot be made.
        """
        folder = Path(tempfile.mkdtemp(prefix="draft-", dir=self._work))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, files: Path, origin: Origin) -> FetchedData:
        """Put a folder of files in the place of its commit, whole or not at all.

        Raises:
            OSError: It cannot be written.
        """
        with (files / ORIGIN).open("w", encoding="utf-8") as file:
            file.write(f"{origin.model_dump_json(indent=2)}\n")
            file.flush()
            os.fsync(file.fileno())
        files.chmod(0o755)
        flush_folders(files)
        self._discard(self.folder / origin.commit)
        files.rename(self.folder / origin.commit)
        flush_folders(self.folder)
        return FetchedData(self.folder / origin.commit, origin)

    def use(self, commit: str) -> None:
        """Let a commit be played from now on.

        Raises:
            FetchedDataError: It is not there, or damaged.
            OSError: It cannot be written.
        """
        self.get(commit)
        with self.draft() as folder:
            draft = folder / _DEFAULT
            with draft.open("w", encoding="ascii") as file:
                file.write(f"{commit}\n")
                file.flush()
                os.fsync(file.fileno())
            draft.rename(self.folder / _DEFAULT)

    def remove(self, commit: str) -> None:
        """Remove the data of a commit, which is then no longer the default.

        Raises:
            OSError: They cannot be removed.
        """
        if self.default_commit() == commit:
            (self.folder / _DEFAULT).unlink()
        self._discard(self.folder / commit)

    def remove_all(self) -> None:
        """Remove everything that was fetched, and every partial download.

        Raises:
            OSError: It cannot be removed.
        """
        (self.folder / _DEFAULT).unlink(missing_ok=True)
        for commit in self.commits():
            self._discard(self.folder / commit)
        for path in self._work.iterdir():
            path.unlink()

    def _discard(self, folder: Path) -> None:
        """Remove a folder, which is gone at once, even if this is interrupted."""
        if folder.exists():
            with self.draft() as draft:
                folder.rename(draft / folder.name)
