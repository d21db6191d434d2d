"""CaseMemory: the latest cases of all conversations, masked, in a file shared by processes."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from rapidfuzz import fuzz, process, utils

from purple_agent.case import PastCase
from purple_agent.errors import PurpleAgentError
from purple_agent.memory.masking import MAX_CHARACTERS, masked

logger = logging.getLogger(__name__)

DATABASE = "cases.db"
"""The memory's file in a state directory."""
CAPACITY = 200
SIMILAR = 3
MIN_SCORE = 50.0
"""The lowest similarity, 0 to 100, of a similar case."""
MIN_QUALITY = 0.5
"""The lowest quality of an answer that serves as a precedent."""
_BUSY_S = 30.0
_VERSION = 1
_MAX_MASKED = 2 * MAX_CHARACTERS
"""Masks may be longer than the text they replace."""
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS cases (id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL,"
    " answer TEXT NOT NULL, process TEXT NOT NULL, quality REAL NOT NULL)"
)
_CORRUPT = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})

_Found = TypeVar("_Found")


class CaseMemoryError(PurpleAgentError):
    """The case memory cannot be read or written. The message says which."""


class CaseRecord(BaseModel):
    """A case in the memory. `quality` is the agent's own rating of its answer, 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    request: str = Field(max_length=_MAX_MASKED)
    answer: str = Field(max_length=_MAX_MASKED)
    process: str = Field(max_length=100)
    quality: float = Field(ge=0, le=1)

    def masked(self) -> CaseRecord:
        """Return the same case without ids and personal data."""
        request, answer = masked(self.request), masked(self.answer)
        return CaseRecord(
            request=request[:_MAX_MASKED],
            answer=answer[:_MAX_MASKED],
            process=self.process,
            quality=self.quality,
        )


class CaseMemory:
    """Keeps the latest cases, first in, first out, in SQLite with a write-ahead log.

    Any number of processes may share a file. A file that is damaged or not a case memory is renamed
    to `<name>.corrupt-<n>` and replaced. The methods do file I/O: call them in a thread.

    Args:
        path: The file. Its folder must exist when the memory is first used.
        capacity: Number of cases to keep, from 1.
    """

    def __init__(self, path: Path, *, capacity: int = CAPACITY) -> None:
        self.path = path
        self._capacity = capacity
        self._prepared = False

    def add(self, *cases: CaseRecord) -> None:
        """Add cases, masked, as the latest.

        Raises:
            CaseMemoryError: They cannot be written.
        """
        rows = [tuple(case.masked().model_dump().values()) for case in cases]
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO cases (request, answer, process, quality) VALUES (?, ?, ?, ?)", rows
            )
            connection.execute(
                "DELETE FROM cases WHERE id <= (SELECT max(id) FROM cases) - ?", (self._capacity,)
            )
            connection.execute("COMMIT")

    def cases(self) -> tuple[CaseRecord, ...]:
        """Return all cases, oldest first. Invalid rows are left out.

        Raises:
            CaseMemoryError: They cannot be read.
        """
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT request, answer, process, quality FROM cases ORDER BY id DESC LIMIT ?",
                (self._capacity,),
            ).fetchall()
        records: list[CaseRecord] = []
        for row in reversed(rows):
            with contextlib.suppress(ValidationError):
                records.append(
                    CaseRecord(request=row[0], answer=row[1], process=row[2], quality=row[3])
                )
        return tuple(records)

    def similar(self, request: str) -> tuple[PastCase, ...]:
        """Return the three best cases with similar requests, best first.

        Similarity is rapidfuzz's `token_sort_ratio` of the masked texts. Cases with a similarity
        below 50 of 100 or a quality below .5 are left out. The rest is ordered by similarity times
        quality; of equals, the later case comes first.

        Raises:
            CaseMemoryError: The cases cannot be read.
        """
        return most_similar(request, self.cases())

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Open a connection to a valid file; an open transaction is rolled back at the end."""
        try:
            if not self._prepared:
                self._prepare()
            with contextlib.closing(_connect(self.path)) as connection:
                yield connection
        except (sqlite3.Error, OSError) as exc:
            # The next use checks the file again, and replaces it if it is damaged.
            self._prepared = False
            raise CaseMemoryError(
                f"the case memory {str(self.path)!r} cannot be used: {exc}; check that its folder"
                " exists and can be written, or unset PURPLE_STATE_DIR"
            ) from exc

    def _prepare(self) -> None:
        """Create or check the file, one process at a time, or two would replace each other's."""
        with self.path.with_name(f"{self.path.name}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_ours(self.path):
                kept = _set_aside(self.path)
                logger.warning("the case memory was damaged and replaced; the old file is %s", kept)
            with contextlib.closing(_connect(self.path)) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        self._prepared = True


def most_similar(request: str, cases: Sequence[CaseRecord]) -> tuple[PastCase, ...]:
    """Return the result of `CaseMemory.similar` for the given cases, oldest first."""
    latest_first = [case for case in reversed(cases) if case.quality >= MIN_QUALITY]
    found = process.extract(
        masked(request),
        [case.request for case in latest_first],
        scorer=fuzz.token_sort_ratio,
        processor=utils.default_process,
        limit=None,
        score_cutoff=MIN_SCORE,
    )
    best = sorted(found, key=lambda hit: (-hit[1] * latest_first[hit[2]].quality, hit[2]))
    return tuple(
        PastCase(**latest_first[index].model_dump(), score=score)
        for _, score, index in best[:SIMILAR]
    )


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None)
    # With the write-ahead log, committed data survive a crash of the process.
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _is_ours(path: Path) -> bool:
    """Tell whether a file is a valid case memory or does not exist yet."""
    try:
        with contextlib.closing(_connect(path)) as connection:
            sound = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    except sqlite3.DatabaseError as exc:
        # The low byte is the primary code; the rest is detail.
        if getattr(exc, "sqlite_errorcode", 0) & 0xFF in _CORRUPT:
            return False
        raise
    return bool(sound and (version == _VERSION or (version == 0 and tables == 0)))


def _set_aside(path: Path) -> Path:
    """Rename a file together with its log; return the new name."""
    number = 1
    while (kept := path.with_name(f"{path.name}.corrupt-{number}")).exists():
        number += 1
    path.rename(kept)
    for suffix in ("-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(kept.with_name(kept.name + suffix))
    return kept
