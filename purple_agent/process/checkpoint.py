"""Checkpoints: the state of a process as JSON, so that it continues after a restart.

A checkpoint that cannot be read, or is of another version, becomes a new process with a note.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from purple_agent.json_values import without_surrogates
from purple_agent.process.kinds import GENERAL, KINDS
from purple_agent.process.machine import (
    MAX_APPROVALS,
    MAX_HISTORY,
    MAX_KEY,
    MAX_NEEDS,
    MAX_NOTES,
    Approval,
    ApprovalStatus,
    Need,
    Process,
    State,
)

logger = logging.getLogger(__name__)

VERSION = 2
MAX_BYTES = 1_000_000
"""More than the longest approvals, needs and notes take as escaped JSON."""
MAX_FILES = 1_000
"""As many as sessions; the oldest are dropped first."""
FOLDER = "checkpoints"


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _KeptApproval(_Data):
    subject: str = Field(max_length=200)
    status: ApprovalStatus
    approval_id: str = Field("", max_length=200)
    tool: str = Field("", max_length=200)
    rules: str = Field("", max_length=MAX_KEY)
    by: str = Field("", max_length=200)


class _KeptNeed(_Data):
    subject: str = Field(max_length=200)
    tool: str = Field(max_length=200)
    rules: str = Field(max_length=MAX_KEY)


class _Kept(_Data):
    version: int
    context: str
    """The hash of the context id; the id itself is not stored."""
    kind: str
    state: State
    approvals: tuple[_KeptApproval, ...] = Field((), max_length=MAX_APPROVALS)
    needs: tuple[_KeptNeed, ...] = Field((), max_length=MAX_NEEDS)
    history: tuple[State, ...] = Field((), max_length=MAX_HISTORY)
    notes: tuple[str, ...] = Field((), max_length=MAX_NOTES)
    policy_hash: str | None = Field(None, max_length=64, alias="policy_mark")
    """The alias is its name in files, for compatibility with earlier checkpoints."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """The part of a conversation that outlives the process.

    Args:
        process: The process.
        policy_hash: The hash of its policy, which is not kept itself; empty if unknown, None if it
            has none.
    """

    process: Process
    policy_hash: str | None = None


def write_checkpoint(checkpoint: Checkpoint, context_id: str) -> str:
    """Return a checkpoint as JSON, to be read with the same context id."""
    process = checkpoint.process
    kept = _Kept(
        version=VERSION,
        context=key_of(context_id),
        kind=process.kind,
        state=process.state,
        approvals=tuple(_KeptApproval(**_sendable_fields(each)) for each in process.approvals),
        needs=tuple(_KeptNeed(**_sendable_fields(each)) for each in process.needs),
        history=process.history,
        notes=tuple(map(without_surrogates, process.notes)),
        policy_mark=checkpoint.policy_hash,
    )
    return kept.model_dump_json(by_alias=True)


def read_checkpoint(text: str | bytes, context_id: str) -> Checkpoint:
    """Read a checkpoint; an unreadable one becomes a new process with a note. Never raises.

    An unreadable file does not say which policy was pinned, but one may have been.
    """
    found = _version(text)
    if found != VERSION:
        shown = "damaged" if found is None else f"of version {found}, not {VERSION}"
        return _anew(f"is {shown}")
    try:
        kept = _Kept.model_validate_json(text)
    except ValidationError:
        return _anew("is damaged")
    if kept.context != key_of(context_id):
        return _anew("is of another conversation")
    process = Process(
        kind=kept.kind if kept.kind in KINDS else GENERAL,
        state=kept.state,
        approvals=tuple(Approval(**each.model_dump()) for each in kept.approvals),
        needs=tuple(Need(**each.model_dump()) for each in kept.needs),
        history=kept.history or (kept.state,),
        notes=kept.notes,
    )
    return Checkpoint(process=process, policy_hash=kept.policy_hash)


def _anew(why: str) -> Checkpoint:
    process = Process().with_note(f"the checkpoint {why}; started over")
    return Checkpoint(process=process, policy_hash="")


def _sendable_fields(data: Approval | Need) -> dict[str, str]:
    return {name: without_surrogates(value) for name, value in asdict(data).items()}


def key_of(context_id: str) -> str:
    """Return the name under which a conversation is kept, which does not reveal its id."""
    return hashlib.sha256(context_id.encode("utf-8", "surrogatepass")).hexdigest()


def _version(text: str | bytes) -> int | None:
    """Return the version of a checkpoint, or None if it is invalid."""
    if len(text) > MAX_BYTES:
        return None
    try:
        read: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    version = read.get("version") if isinstance(read, dict) else None
    return version if type(version) is int and abs(version) < 10**9 else None


class CheckpointStore:
    """Checkpoints in files, one per conversation. Disk errors are logged and otherwise ignored.

    Args:
        state_dir: The folder in which `checkpoints` is created.
    """

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / FOLDER

    def load(self, context_id: str) -> Checkpoint | None:
        """Read the checkpoint of a conversation, or None."""
        try:
            with self._path(context_id).open("rb") as file:
                return read_checkpoint(file.read(MAX_BYTES + 1), context_id)
        except FileNotFoundError:
            return None
        except OSError as error:
            logger.warning("a checkpoint cannot be read: %s", error)
            return _anew("cannot be read")

    def save(self, context_id: str, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint of a conversation atomically."""
        path = self._path(context_id)
        text = write_checkpoint(checkpoint, context_id).encode()
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
