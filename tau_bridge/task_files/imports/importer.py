"""Importer: makes task files of other tools' files and of recorded conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from tau_bridge.errors import DataError
from tau_bridge.recordings import Recordings
from tau_bridge.redaction import MASK, Redactor
from tau_bridge.task_files.documents import MAX_BYTES, SUFFIXES, read_document
from tau_bridge.task_files.imports.adk_evalset import read_evalset
from tau_bridge.task_files.imports.drafting import draft_of
from tau_bridge.task_files.imports.drafts import FileDraft
from tau_bridge.task_files.imports.formats import FORMATS, format_of
from tau_bridge.task_files.imports.inspect_dataset import read_inspect
from tau_bridge.task_files.imports.otlp import read_otlp
from tau_bridge.task_files.imports.promptfoo import read_promptfoo
from tau_bridge.task_files.imports.traces import read_traces
from tau_bridge.task_files.imports.writing import as_yaml
from tau_bridge.task_import import RESULTS, ImportedTasks

_GZIP: Final = b"\x1f\x8b"


class Importer:
    """A `tau_bridge.task_import.TaskImporter` for the form of this folder."""

    formats: Mapping[str, str] = FORMATS

    def format_of(self, path: Path) -> str:
        """Return the format of a file; what is packed can only be results or traces."""
        if path.stat().st_size > MAX_BYTES:
            raise DataError(f"{path.name}: too large to recognise; name its format with --format")
        if path.suffix.lower() in SUFFIXES:
            return format_of(read_document(path))
        with path.open("rb") as file:
            is_packed = file.read(2) == _GZIP
        if not is_packed:
            raise DataError(
                f"{path.name}: the format is not recognised by a name that does not end with "
                f"{', '.join(SUFFIXES)}; name it with --format"
            )
        return RESULTS if path.name.lower().endswith(".json.gz") else "trace"

    def of_file(self, path: Path, format_: str, redactor: Redactor) -> ImportedTasks:
        """Return the tasks of a file."""
        return _written(_draft(path, format_, redactor), path.name)

    def of_recordings(
        self, recordings: Recordings, *, name: str, source: str, redactor: Redactor
    ) -> ImportedTasks:
        """Return drafts of the conversations that went wrong, with controls."""
        conversations, notes = recordings
        draft = draft_of(conversations, name=name, redactor=redactor, notes=notes)
        return _written(draft, source)


def _written(draft: FileDraft, source: str) -> ImportedTasks:
    draft = replace(draft, notes=[*draft.notes, *_masked_where_it_decides(draft)])
    text = as_yaml(draft, source=source)
    return ImportedTasks(text=text, count=len(draft.tasks), notes=tuple(draft.notes))


def _masked_where_it_decides(draft: FileDraft) -> Iterator[str]:
    """Name the tasks in which an agent would have to say or send what was masked."""
    for task in draft.tasks:
        if MASK in json.dumps([[check.value for check in task.expect], task.gold], default=dict):
            yield (
                f"task {task.id}: a check or the solution holds a secret that was masked; put a "
                f"value of your own in place of {MASK!r}, there and in the tools and messages"
            )


def _draft(path: Path, format_: str, redactor: Redactor) -> FileDraft:
    if format_ in ("trace", "otlp"):
        read = read_traces(path) if format_ == "trace" else read_otlp(read_document(path))
        name = path.name.partition(".")[0] or path.name
        return draft_of(read[0], name=name, redactor=redactor, notes=read[1])
    document = read_document(path)
    if format_ == "inspect":
        return read_inspect(document)
    if format_ == "promptfoo":
        return read_promptfoo(document)
    return read_evalset(document, redactor)
