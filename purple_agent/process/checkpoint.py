"""Checkpoints: where a process stands, as JSON, so that it goes on after a restart.

What cannot be read, or was written by another version, becomes a fresh process with a note.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from purple_agent.process.kinds import GENERAL, KINDS
from purple_agent.process.machine import (
    MAX_APPROVALS,
    MAX_HISTORY,
    MAX_NOTES,
    Approval,
    ApprovalStatus,
    Process,
    State,
)

logger = logging.getLogger(__name__)

VERSION = 1
MAX_BYTES = 64_000
MAX_FILES = 1_000
"""As many as conversations are kept; the oldest go first."""
FOLDER = "checkpoints"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _KeptApproval(_Data):
    subject: str = Field(max_length=200)
    status: ApprovalStatus
    approval_id: str = Field("", max_length=200)


class _Kept(_Data):
    version: int
    context: str
    """The hash of the context id, which is not written down itself."""
    kind: str
    state: State
    approvals: tuple[_KeptApproval, ...] = Field((), max_length=MAX_APPROVALS)
    history: tuple[State, ...] = Field((), max_length=MAX_HISTORY)
    notes: tuple[str, ...] = Field((), max_length=MAX_NOTES)


def write_checkpoint(process: Process, context_id: str) -> str:
    """A process as JSON, to be read with the same context id."""
    kept = _Kept(
        version=VERSION,
        context=key_of(context_id),
        kind=process.kind,
        state=process.state,
        approvals=tuple(
            _KeptApproval(subject=each.subject, status=each.status, approval_id=each.approval_id)
            for each in process.approvals
        ),
        history=process.history,
        notes=process.notes,
    )
    return kept.model_dump_json()


def read_checkpoint(text: str | bytes, context_id: str) -> Process:
    """The process that a checkpoint holds, or a fresh one with a note. Never raises."""
    found = _version(text)
    if found != VERSION:
        shown = "damaged" if found is None else f"of version {found}, not {VERSION}"
        return Process().noting(f"the checkpoint is {shown}; begun anew")
    try:
        kept = _Kept.model_validate_json(text)
    except ValidationError:
        return Process().noting("the checkpoint is damaged; begun anew")
    if kept.context != key_of(context_id):
        return Process().noting("the checkpoint is of another conversation; begun anew")
    return Process(
        kind=kept.kind if kept.kind in KINDS else GENERAL,
        state=kept.state,
        approvals=tuple(Approval(**each.model_dump()) for each in kept.approvals),
        history=kept.history or (kept.state,),
        notes=kept.notes,
    )


def key_of(context_id: str) -> str:
    """The name under which a conversation is kept; tells nothing of its id."""
    return hashlib.sha256(context_id.encode("utf-8", "surrogatepass")).hexdigest()


def _version(text: str | bytes) -> int | None:
    """The version that wrote a checkpoint; None for what no version wrote."""
    if len(text) > MAX_BYTES:
        return None
    try:
        read: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    version = read.get("version") if isinstance(read, dict) else None
    return version if type(version) is int and abs(version) < 10**9 else None


class CheckpointStore:
    """Checkpoints in files, one a conversation. What the disk refuses is logged, and goes without.

    Args:
        state_dir: Where the folder `checkpoints` is made.
    """

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / FOLDER

    def load(self, context_id: str) -> Process | None:
        """The process of a conversation; None where none was kept."""
        try:
            with self._path(context_id).open("rb") as file:
                return read_checkpoint(file.read(MAX_BYTES + 1), context_id)
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("a checkpoint cannot be read: %s", error)
            return Process().noting("the checkpoint cannot be read; begun anew")

    def save(self, context_id: str, process: Process) -> None:
        """Keep a process in place of what was kept before: the whole of it, or nothing."""
        path = self._path(context_id)
        text = write_checkpoint(process, context_id).encode("utf-8", "replace")
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle, draft = tempfile.mkstemp(dir=self._folder, suffix=".draft")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(text)
                Path(draft).replace(path)
            except OSError:
                Path(draft).unlink(missing_ok=True)
                raise
            self._drop_oldest()
        except OSError as error:
            logger.warning("a checkpoint cannot be written: %s", error)

    def _drop_oldest(self) -> None:
        files = [*self._folder.glob("*.json")]
        if len(files) <= MAX_FILES:
            return
        by_age = sorted(files, key=_age_key)
        for path in by_age[: len(files) - MAX_FILES]:
            path.unlink(missing_ok=True)

    def _path(self, context_id: str) -> Path:
        return self._folder / f"{key_of(context_id)}.json"


def _age_key(path: Path) -> tuple[float, str]:
    modified = 0.0
    with contextlib.suppress(OSError):  # another process may have dropped it
        modified = path.stat().st_mtime
    return modified, path.name
