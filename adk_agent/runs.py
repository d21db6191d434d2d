"""RunStore: the run directory, where nothing that finished is ever lost.

`results/<run_id>/` holds `manifest.json` (written first), `trials.jsonl` (one line appended and
flushed as each trial ends, trace and messages included), `report.json` and `report.md`.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from adk_agent.errors import StorageError
from adk_agent.report import EvaluationReport, TrialRow
from evals.base import Evaluation
from evals.trace import Trace


class TrialRecord(BaseModel):
    """One line of `trials.jsonl`: everything that is known of one trial."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: TrialRow
    evaluations: tuple[Evaluation, ...]
    trace: Trace
    trace_problems: tuple[str, ...] = ()
    """What of the participants' reports could not be used, or contradicts what was seen."""
    roster: tuple[str, ...] | None = None
    """All members of the team behind the participant; None where unknown."""
    messages: tuple[dict[str, Any], ...]
    """The conversation in the official results format."""


@contextmanager
def _storage(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        msg = f"cannot use {str(path)!r}: {error.strerror or error}"
        raise StorageError(msg) from error


class RunStore:
    """Writes one run. Open it with `RunStore.create`, close it with `close`."""

    def __init__(self, directory: Path, trials: io.FileIO) -> None:
        self.directory = directory
        self._trials = trials
        self._size = 0

    @classmethod
    def create(cls, results_dir: Path, run_id: str, manifest: Mapping[str, Any]) -> RunStore:
        """A new run directory with its manifest.

        Raises:
            StorageError: it exists already, or cannot be written.
        """
        directory = results_dir / run_id
        with _storage(directory):
            directory.mkdir(parents=True)
            _write(directory / "manifest.json", json.dumps(manifest, indent=2) + "\n")
            trials = io.FileIO(directory / "trials.jsonl", "a")
        return cls(directory, trials)

    def append(self, record: TrialRecord) -> None:
        """Write a finished trial to disk at once.

        Raises:
            StorageError: it could not be written, for example because the disk is full. What
                was written before stays whole.
        """
        line = memoryview(record.model_dump_json().encode() + b"\n")
        with _storage(self.directory / "trials.jsonl"):
            try:
                written = 0
                while written < len(line):
                    written += self._trials.write(line[written:])
            except OSError:
                self._trials.truncate(self._size)  # no half line stays behind
                raise
        self._size += len(line)

    def finish(self, report: EvaluationReport, markdown: str) -> None:
        """Write the report, whole or not at all."""
        self.write_text("report.json", report.to_json())
        self.write_text("report.md", markdown)

    def write_text(self, name: str, text: str) -> None:
        """Write one file of the run, whole or not at all."""
        with _storage(self.directory / name):
            _write(self.directory / name, text)

    def close(self) -> None:
        """Close the open file."""
        with _storage(self.directory):
            self._trials.close()


def _write(path: Path, text: str) -> None:
    draft = path.with_name(path.name + ".part")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)  # noqa: PTH105 - says that an existing file is replaced


def rewrite_markdown(results_dir: Path, run_id: str, markdown: str) -> Path:
    """Replace a run's `report.md`, and return its path.

    Raises:
        StorageError: it cannot be written.
    """
    path = results_dir / run_id / "report.md"
    with _storage(path):
        _write(path, markdown)
    return path


def load_report(results_dir: Path, run_id: str) -> EvaluationReport:
    """The report of a finished run.

    Raises:
        StorageError: there is none, or it cannot be read.
    """
    path = results_dir / run_id / "report.json"
    with _storage(path):
        text = path.read_bytes()
    try:
        return EvaluationReport.from_json(text)
    except ValidationError as error:
        msg = f"{str(path)!r} is not a report of this version: {error.error_count()} errors"
        raise StorageError(msg) from error


def load_trials(results_dir: Path, run_id: str) -> Iterator[TrialRecord]:
    """The trials of a run, in the order in which they ended.

    A last line without its end, as a killed process may leave one, is no trial.

    Raises:
        StorageError: the file is missing, or a whole line of it cannot be read.
    """
    path = results_dir / run_id / "trials.jsonl"
    with _storage(path), path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                return
            try:
                yield TrialRecord.model_validate_json(line)
            except ValidationError as error:
                msg = f"{str(path)!r} line {number} is not a trial: {error.error_count()} errors"
                raise StorageError(msg) from error
