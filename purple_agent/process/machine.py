"""Process: a business process as a finite state machine that moves on evidence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """Where a process stands."""

    DECOMPOSE = "DECOMPOSE"
    ASSESS = "ASSESS"
    POLICY_CHECK = "POLICY_CHECK"
    APPROVAL_GATE = "APPROVAL_GATE"
    EXECUTE = "EXECUTE"
    COMPLETE = "COMPLETE"
    ESCALATE = "ESCALATE"
    FAILED = "FAILED"


@dataclass(frozen=True, kw_only=True)
class Process:
    """One process of one conversation."""

    kind: str = "general"
    state: State = State.DECOMPOSE
