"""RunStore: the run directory, which loses nothing that was finished.

`results/<run_id>/` holds `manifest.json` (written first), `trials.jsonl` (one line appended and
flushed as each trial ends, trace and messages included), `report.json` and `report.md`.
"""

from __future__ import annotations

import contextlib
import errno
import io
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError

from adk_agent.core.errors import DamagedError, RequestError, StorageError
from adk_agent.core.files import SCHEMA, first_error, read_kept, refuse_newer, storage, write_whole
from adk_agent.core.model_choice import RULES
from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.headlines import DomainHeadlines
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import DataOrigin, DomainReferences, TrialKey, TrialRow
from adk_agent.runs.jobs import jobs_of
from evals.base import Evaluation
from evals.trace import Trace
from tau_bridge.benchmark import SCRIPTED_USER

MANIFEST, TRIALS = "manifest.json", "trials.jsonl"
REPORT, MARKDOWN = "report.json", "report.md"
OWN_FILES = frozenset({MANIFEST, TRIALS, REPORT, MARKDOWN, "status.json"})
"""The files of a run, which nothing else may replace."""
WITHOUT_MODELS = {"user": SCRIPTED_USER, "judge": RULES}
"""The `models` of a run that was begun without any."""
_BLOCK = 65_536
M = TypeVar("M", bound=BaseModel)


class RunManifest(BaseModel):
    """The start of a run: all that is needed to go on with it, or to play it again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: int = SCHEMA
    run_id: str
    request: str
    plan: EvaluationPlan
    created_at: AwareDatetime
    versions: dict[str, str]
    seeds: tuple[int, ...]
    data: dict[str, DataOrigin]
    """Origins of data by domain."""
    headlines: dict[str, DomainHeadlines] = {}
    """The figures that speak for a domain, where they are others than pass^k."""
    references: dict[str, DomainReferences] = {}
    """The rewards of the agents that mark floor and ceiling, by domain."""
    models: dict[str, str] = {}
    """The models of `user` and `judge`; empty in runs of versions that did not note them."""


class TrialRecord(BaseModel):
    """One line of `trials.jsonl`: everything that is known of one trial."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: TrialRow
    evaluations: tuple[Evaluation, ...]
    trace: Trace
    trace_problems: tuple[str, ...] = ()
    """Parts of the participants' reports that could not be used, or contradict what was observed."""
    roster: tuple[str, ...] | None = None
    """All members of the team behind the participant; None where unknown."""
    messages: tuple[dict[str, Any], ...]
    """The conversation in the official results format."""

    @property
    def key(self) -> TrialKey:
        """The identity of the trial within its run."""
        return self.row.key


class RunStore:
    """Writes one run. `create` or `reopen` opens it, `close` closes it."""

    def __init__(self, directory: Path, trials: io.FileIO, *, size: int = 0) -> None:
        self.directory = directory
        self._trials = trials
        self._size = size

    @classmethod
    def create(cls, results_dir: Path, run_id: str, manifest: RunManifest) -> RunStore:
        """Create a run directory with its manifest.

        Raises:
            StorageError: it exists already, or cannot be written.
        """
        directory = results_dir / run_id
        with storage(directory):
            directory.mkdir(parents=True, exist_ok=True)
            if (directory / MANIFEST).exists():
                raise FileExistsError(errno.EEXIST, "there is a run already")
            with contextlib.ExitStack() as opened:
                trials = opened.enter_context(io.FileIO(directory / TRIALS, "a"))
                write_whole(directory / MANIFEST, manifest.model_dump_json(indent=2) + "\n")
                opened.pop_all()  # it stays open: all is written
        return cls(directory, trials)

    @classmethod
    def reopen(cls, results_dir: Path, run_id: str) -> RunStore:
        """Open the directory of a run that was begun, to go on with; half a last line is removed.

        Raises:
            StorageError: It cannot be written, or a newer version wrote its report.
        """
        directory = results_dir / run_id
        refuse_newer(directory / REPORT)  # which would be written over
        path = directory / TRIALS
        with storage(path):
            trials = io.FileIO(path, "r+")
            whole = _length_of_whole_lines(trials)
            trials.truncate(whole)
            trials.seek(whole)
        return cls(directory, trials, size=whole)

    def append(self, record: TrialRecord) -> None:
        """Write a finished trial to disk at once.

        Raises:
            StorageError: it could not be written, for example because the disk is full. What
                was written before stays whole.
        """
        line = memoryview(record.model_dump_json().encode() + b"\n")
        with storage(self.directory / TRIALS):
            try:
                written = 0
                while written < len(line):
                    written += self._trials.write(line[written:])
            except OSError:
                self._trials.truncate(self._size)  # no half line stays behind
                self._trials.seek(self._size)  # or the next would begin after a gap
                raise
        self._size += len(line)

    def finish(self, report: EvaluationReport, markdown: str) -> None:
        """Write the report, each of its files whole or not at all."""
        # The JSON last: a run that has it has been reported, and needs no more writing.
        write_whole(self.directory / MARKDOWN, markdown)
        write_whole(self.directory / REPORT, report.to_json())

    def close(self) -> None:
        """Close the open file."""
        with storage(self.directory):
            self._trials.close()


def load_report(results_dir: Path, run_id: str) -> EvaluationReport:
    """Load the report of a finished run.

    Raises:
        DamagedError: it is not a report.
        StorageError: it does not exist, or cannot be read.
    """
    remedy = f"delete it, then: greenroom resume {run_id}"
    return read_kept(results_dir / run_id / REPORT, EvaluationReport, "report", remedy=remedy)


def load_manifest(results_dir: Path, run_id: str) -> RunManifest:
    """Load what a run was begun with.

    Raises:
        StorageError: it does not exist, or cannot be read.
    """
    return read_kept(results_dir / run_id / MANIFEST, RunManifest, "manifest")


def load_trials(results_dir: Path, run_id: str) -> list[TrialRecord]:
    """Load all trials that `iter_trials` yields."""
    return list(iter_trials(results_dir, run_id))


def refuse_own_file(path: Path) -> None:
    """Refuse a path at which a file of a run would be replaced.

    Raises:
        RequestError: There is such a file.
    """
    if path.name in OWN_FILES and (path.parent / MANIFEST).exists():
        raise RequestError(f"--out: {str(path)!r} is a file of a run; choose another name")


class StoredTrials:
    """The trials of a run on disk: the file is read once, and any of them can then be loaded.

    Args:
        results_dir: The folder of runs.
        run_id: The run's id.
        manifest: The run's, where trials that its plan does not have must not be there.

    Raises:
        StorageError: As `iter_trials` says.
    """

    def __init__(
        self, results_dir: Path, run_id: str, *, manifest: RunManifest | None = None
    ) -> None:
        self._path = results_dir / run_id / TRIALS
        with storage(self._path), self._path.open("rb") as lines:
            self._places = _places(lines, self._path)
        if manifest is not None:
            _refuse_strangers(self._places, manifest, self._path)

    def lacks(self, keys: Iterable[TrialKey]) -> int:
        """Count those of these trials that are not there."""
        return sum(key not in self._places for key in keys)

    def records(self, keys: Collection[TrialKey] | None = None) -> Iterator[TrialRecord]:
        """Yield these trials, or all, in the order in which they ended, one in memory at a time.

        Raises:
            StorageError: One cannot be read.
        """
        with storage(self._path), self._path.open("rb") as lines:
            for key, place in self._places.items():
                if keys is None or key in keys:
                    lines.seek(place.offset)
                    yield _parsed(lines.readline(), TrialRecord, self._path, place.line)


def iter_trials(
    results_dir: Path, run_id: str, *, manifest: RunManifest | None = None
) -> Iterator[TrialRecord]:
    """Yield the trials of a run in the order in which they ended; of a repeated one, the last.

    One is in memory at a time. A last line without its end, as a killed process may leave one, is
    no trial. Blank lines are passed over.

    Args:
        results_dir: The folder of runs.
        run_id: The run's id.
        manifest: The run's, where trials that its plan does not have must not be there.

    Raises:
        StorageError: the file is missing, a whole line of it cannot be read, or holds a trial that
            is not of this run. Raised with the first trial, unless only the rest of a line behind
            its key is damaged.
    """
    yield from StoredTrials(results_dir, run_id, manifest=manifest).records()


class _RowKey(BaseModel):
    participant: str
    domain: str
    task_id: str
    trial: int
    seed: int


class _Keyed(BaseModel):
    """The part of a line that says which trial it holds; reading it costs half as much."""

    row: _RowKey


@dataclass(frozen=True, kw_only=True)
class _Place:
    line: int
    offset: int
    seed: int


def _places(lines: io.BufferedReader, path: Path) -> dict[TrialKey, _Place]:
    """Find each trial's last line."""
    places: dict[TrialKey, _Place] = {}
    offset = 0
    for number, line in enumerate(lines, start=1):
        if not line.endswith(b"\n"):
            break
        if line.strip():
            row = _parsed(line, _Keyed, path, number).row
            key = row.participant, row.domain, row.task_id, row.trial
            places.pop(key, None)
            places[key] = _Place(line=number, offset=offset, seed=row.seed)
        offset += len(line)
    return places


def _parsed(line: bytes, kind: type[M], path: Path, number: int) -> M:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        raise DamagedError(
            f"{str(path)!r} line {number} is not a trial: {first_error(error)}; delete that line: "
            "greenroom resume plays its trial again"
        ) from error


def _refuse_strangers(places: Mapping[TrialKey, _Place], manifest: RunManifest, path: Path) -> None:
    seeds = dict(enumerate(manifest.seeds))
    planned = {job.key: seeds.get(job.trial) for job in jobs_of(manifest.plan)}
    for key, place in places.items():
        if planned.get(key) != place.seed:
            participant, domain, task_id, trial = key
            raise StorageError(
                f"{str(path)!r} line {place.line} holds a trial that is not in the plan of run "
                f"{manifest.run_id}: {participant} {domain} {task_id} trial {trial} with seed "
                f"{place.seed}; files of two runs were mixed, or the manifest was changed"
            )


def _length_of_whole_lines(file: io.FileIO) -> int:
    """Count the bytes up to the last line end."""
    end = file.seek(0, io.SEEK_END)
    while end:
        start = max(0, end - _BLOCK)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
