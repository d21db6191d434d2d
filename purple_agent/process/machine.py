"""Process: a business process as a finite state machine that moves on evidence.

    DECOMPOSE -> ASSESS -> POLICY_CHECK -> EXECUTE -> COMPLETE
                                |-> APPROVAL_GATE -> EXECUTE
                                |-> ESCALATE
                                `-> FAILED

Each write goes through POLICY_CHECK anew, so a request of several parts comes back to it: EXECUTE
means that the last ruling let a write pass, never that any further write may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

MAX_APPROVALS = 50
MAX_NOTES = 20
MAX_HISTORY = 60


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


class Sign(StrEnum):
    """What a piece of evidence shows."""

    UNDERSTOOD = "understood"
    """It is clear what is asked for."""
    ASSESSED = "assessed"
    """What can be read has been read, and a write is about to be judged."""
    ALLOWED = "allowed"
    """The policy lets the write pass."""
    APPROVAL_NEEDED = "approval_needed"
    ESCALATION_NEEDED = "escalation_needed"
    BLOCKED = "blocked"
    APPROVAL_PENDING = "approval_pending"
    """A tool said so, as for the next two. What a user says is no evidence of an approval."""
    APPROVAL_GRANTED = "approval_granted"
    APPROVAL_DENIED = "approval_denied"
    ESCALATED = "escalated"
    """A human has been asked to take over."""
    WRITTEN = "written"
    """A write succeeded."""
    WRITE_FAILED = "write_failed"
    DONE = "done"
    """Nothing more is to be done."""
    GAVE_UP = "gave_up"
    """It cannot be done, for a reason other than the policy."""


class ApprovalStatus(StrEnum):
    """What became of a request for approval."""

    PENDING = "pending"
    GRANTED = "granted"
    DENIED = "denied"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Something that shows how a process stands.

    Args:
        sign: What it shows.
        subject: Of an approval: the id of what was to be approved, as `gate.subject_of` tells it.
        approval_id: Of a pending approval: how to ask for it again.
        detail: In a few words, for notes.
    """

    sign: Sign
    subject: str = ""
    approval_id: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """What a tool said of one subject's approval."""

    subject: str
    status: ApprovalStatus
    approval_id: str = ""


_APPROVALS = {
    Sign.APPROVAL_PENDING: ApprovalStatus.PENDING,
    Sign.APPROVAL_GRANTED: ApprovalStatus.GRANTED,
    Sign.APPROVAL_DENIED: ApprovalStatus.DENIED,
}

_ANYWHERE: Mapping[Sign, State] = {
    Sign.ESCALATED: State.ESCALATE,
    Sign.BLOCKED: State.FAILED,
    Sign.GAVE_UP: State.FAILED,
}
_ONCE_UNDERSTOOD: Mapping[Sign, State] = {
    **_ANYWHERE,
    Sign.ASSESSED: State.POLICY_CHECK,
    Sign.DONE: State.COMPLETE,
}
_ENDED: Mapping[Sign, State] = {Sign.ASSESSED: State.POLICY_CHECK, Sign.ESCALATED: State.ESCALATE}

TRANSITIONS: Mapping[State, Mapping[Sign, State]] = {
    State.DECOMPOSE: {**_ANYWHERE, Sign.UNDERSTOOD: State.ASSESS},
    State.ASSESS: _ONCE_UNDERSTOOD,
    State.POLICY_CHECK: {
        **_ONCE_UNDERSTOOD,
        Sign.ALLOWED: State.EXECUTE,
        Sign.APPROVAL_NEEDED: State.APPROVAL_GATE,
        Sign.ESCALATION_NEEDED: State.ESCALATE,
    },
    State.APPROVAL_GATE: {
        Sign.ASSESSED: State.POLICY_CHECK,
        Sign.APPROVAL_PENDING: State.APPROVAL_GATE,
        Sign.APPROVAL_GRANTED: State.EXECUTE,
        Sign.APPROVAL_DENIED: State.FAILED,
        **_ANYWHERE,
    },
    State.EXECUTE: {
        **_ONCE_UNDERSTOOD,
        Sign.WRITTEN: State.POLICY_CHECK,
        Sign.WRITE_FAILED: State.POLICY_CHECK,
    },
    State.COMPLETE: {**_ENDED, Sign.DONE: State.COMPLETE},
    State.ESCALATE: _ENDED,
    State.FAILED: _ENDED,
}
"""Where each sign leads. Anything else is illegal: it leaves the state, and a note."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """One process of one conversation.

    Args:
        kind: One of `purple_agent.process.kinds.KINDS`.
        state: Where it stands.
        approvals: What tools said, the newest statement of each subject, oldest first.
        history: The states gone through, the present one last; the newest `MAX_HISTORY`.
        notes: Evidence that came where it means nothing, and what was wrong with a checkpoint.
    """

    kind: str = "general"
    state: State = State.DECOMPOSE
    approvals: tuple[Approval, ...] = ()
    history: tuple[State, ...] = field(default=(State.DECOMPOSE,))
    notes: tuple[str, ...] = ()

    def advance(self, *evidence: Evidence) -> Process:
        """The process after each piece of evidence in turn.

        What a tool says of an approval is kept in every state. Illegal evidence is noted and
        changes nothing else.
        """
        process = self
        for each in evidence:
            process = process._after(each)
        return process

    def approval(self, subject: str) -> Approval | None:
        """What is known of the approval of a subject; upper and lower case are the same."""
        wanted = _plain(subject)
        return next((each for each in self.approvals if _plain(each.subject) == wanted), None)

    def noting(self, note: str) -> Process:
        """The same with another note."""
        return replace(self, notes=(*self.notes, note[:200])[-MAX_NOTES:])

    def _after(self, evidence: Evidence) -> Process:
        process = self._with_approval(evidence)
        following = TRANSITIONS[self.state].get(evidence.sign)
        if following is None:
            if evidence.sign in _APPROVALS:
                return process
            return process.noting(f"{evidence.sign} means nothing in {self.state}")
        history = self.history
        if following is not self.state:
            history = (*history, following)[-MAX_HISTORY:]
        return replace(process, state=following, history=history)

    def _with_approval(self, evidence: Evidence) -> Process:
        status = _APPROVALS.get(evidence.sign)
        if status is None or not evidence.subject:
            return self
        known = self.approval(evidence.subject)
        approval = Approval(
            subject=evidence.subject[:200],
            status=status,
            approval_id=(evidence.approval_id or (known.approval_id if known else ""))[:200],
        )
        others = tuple(each for each in self.approvals if each is not known)
        return replace(self, approvals=(*others, approval)[-MAX_APPROVALS:])


def may_write(process: Process) -> bool:
    """Whether the state lets a write pass. The policy has its own say: see `gate.refusal`."""
    return process.state is State.EXECUTE


def _plain(subject: str) -> str:
    return subject.strip().casefold()
