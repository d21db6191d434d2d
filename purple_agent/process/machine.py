"""Process: a business process as a finite state machine driven by evidence.

    DECOMPOSE -> ASSESS -> POLICY_CHECK -> EXECUTE -> COMPLETE
                                |-> APPROVAL_GATE -> EXECUTE
                                |-> ESCALATE
                                `-> FAILED

Each write goes through POLICY_CHECK again, so a request with several parts returns to it: EXECUTE
means that the last ruling let one write pass, never that further writes may.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from purple_agent.json_values import without_surrogates

MAX_APPROVALS = 50
MAX_NEEDS = 20
MAX_KEY = 100
MAX_NOTES = 20
MAX_HISTORY = 60


class State(StrEnum):
    """A state of a process."""

    DECOMPOSE = "DECOMPOSE"
    ASSESS = "ASSESS"
    POLICY_CHECK = "POLICY_CHECK"
    APPROVAL_GATE = "APPROVAL_GATE"
    EXECUTE = "EXECUTE"
    COMPLETE = "COMPLETE"
    ESCALATE = "ESCALATE"
    FAILED = "FAILED"


class Sign(StrEnum):
    """The meaning of a piece of evidence."""

    UNDERSTOOD = "understood"
    """The request is understood."""
    ASSESSED = "assessed"
    """All reads are done, and a write is about to be judged."""
    ALLOWED = "allowed"
    """The policy lets the write pass."""
    APPROVAL_NEEDED = "approval_needed"
    ESCALATION_NEEDED = "escalation_needed"
    BLOCKED = "blocked"
    APPROVAL_PENDING = "approval_pending"
    """As stated by a tool, like the next two. A user's words are no evidence of an approval."""
    APPROVAL_GRANTED = "approval_granted"
    APPROVAL_DENIED = "approval_denied"
    ESCALATED = "escalated"
    """A human has been asked to take over."""
    WRITTEN = "written"
    """A write succeeded."""
    WRITE_FAILED = "write_failed"
    DONE = "done"
    """Nothing is left to do."""
    UNABLE = "unable"
    """Nothing of the request can be done."""


class ApprovalStatus(StrEnum):
    """The outcome of a request for approval."""

    PENDING = "pending"
    GRANTED = "granted"
    DENIED = "denied"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Evidence about the state of a process.

    Args:
        sign: The meaning.
        subject: For an approval: the id of its subject, see `writes.gate.subject_of`.
        approval_id: For a pending approval: the id to look it up.
        tool: For a ruling that requires an approval: the tool.
        rules: For such a ruling: the rules that require it, see `rules_key`.
        by: The person who decided on an approval, in the tool's words.
        detail: A few words for notes.
    """

    sign: Sign
    subject: str = ""
    approval_id: str = ""
    tool: str = ""
    rules: str = ""
    by: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A tool's statement on the approval of one subject.

    It is valid for the use of one tool, as required by certain rules. If no ruling came before it,
    both are empty until the first ruling for which it counts.
    """

    subject: str
    status: ApprovalStatus
    approval_id: str = ""
    tool: str = ""
    rules: str = ""
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class Need:
    """The approval that the latest ruling on a subject requires."""

    subject: str
    tool: str
    rules: str


_APPROVALS = {
    Sign.APPROVAL_PENDING: ApprovalStatus.PENDING,
    Sign.APPROVAL_GRANTED: ApprovalStatus.GRANTED,
    Sign.APPROVAL_DENIED: ApprovalStatus.DENIED,
}

_ANYWHERE: Mapping[Sign, State] = {
    Sign.ESCALATED: State.ESCALATE,
    Sign.BLOCKED: State.FAILED,
}
_ONCE_UNDERSTOOD: Mapping[Sign, State] = {
    **_ANYWHERE,
    Sign.ASSESSED: State.POLICY_CHECK,
    Sign.DONE: State.COMPLETE,
}
_ENDED: Mapping[Sign, State] = {Sign.ASSESSED: State.POLICY_CHECK, Sign.ESCALATED: State.ESCALATE}

TRANSITIONS: Mapping[State, Mapping[Sign, State]] = {
    State.DECOMPOSE: {**_ANYWHERE, Sign.UNDERSTOOD: State.ASSESS},
    State.ASSESS: {**_ONCE_UNDERSTOOD, Sign.UNABLE: State.FAILED},
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
"""The state that each sign leads to. Any other sign is illegal and adds a note."""


@dataclass(frozen=True, kw_only=True)
class Process:
    """One process of one conversation.

    Args:
        kind: One of `purple_agent.process.kinds.KINDS`.
        state: The current state.
        approvals: The newest statement on each approval, oldest first.
        needs: The newest need of each subject, from the gate's rulings, oldest first.
        history: The last `MAX_HISTORY` states, ending with the current one.
        notes: Notes on illegal evidence and on problems with a checkpoint.
    """

    kind: str = "general"
    state: State = State.DECOMPOSE
    approvals: tuple[Approval, ...] = ()
    needs: tuple[Need, ...] = ()
    history: tuple[State, ...] = field(default=(State.DECOMPOSE,))
    notes: tuple[str, ...] = ()

    def advance(self, *evidence: Evidence) -> Process:
        """Return the process after each piece of evidence in turn.

        A tool's statement on an approval is kept in every state. Illegal evidence only adds a note.
        """
        process = self
        for each in evidence:
            process = process._after(each)
        return process

    def approval(self, subject: str) -> Approval | None:
        """Return the newest statement on a subject, ignoring case, or None."""
        return next(iter(self.approvals_of(subject)), None)

    def approvals_of(self, subject: str) -> tuple[Approval, ...]:
        """Return the tools' statements on a subject, newest first."""
        return tuple(each for each in reversed(self.approvals) if is_same(each.subject, subject))

    def next_request(self) -> Process:
        """Return the process of the next request, which keeps pending approvals."""
        pending = (each for each in self.approvals if each.status is ApprovalStatus.PENDING)
        return Process(approvals=tuple(pending), notes=self.notes)

    def with_note(self, note: str) -> Process:
        """Return the same process with another note."""
        return replace(self, notes=(*self.notes, note[:200])[-MAX_NOTES:])

    def _after(self, evidence: Evidence) -> Process:
        process = self._with_need(evidence) if evidence.tool else self._with_approval(evidence)
        following = TRANSITIONS[self.state].get(evidence.sign)
        if following is None:
            if evidence.sign in _APPROVALS:
                return process
            return process.with_note(f"{evidence.sign} means nothing in {self.state}")
        history = self.history
        if following is not self.state:
            history = (*history, following)[-MAX_HISTORY:]
        return replace(process, state=following, history=history)

    def _with_need(self, evidence: Evidence) -> Process:
        """Record the need of a ruling; an approval without a tool now counts for it."""
        if not evidence.subject or not evidence.tool:
            return self
        need = Need(
            subject=_kept(evidence.subject), tool=_kept(evidence.tool), rules=evidence.rules
        )
        others = (each for each in self.needs if not is_same(each.subject, need.subject))
        approvals = tuple(
            replace(each, tool=need.tool, rules=need.rules)
            if is_same(each.subject, need.subject) and not each.tool
            else each
            for each in self.approvals
        )
        return replace(self, needs=(*others, need)[-MAX_NEEDS:], approvals=approvals)

    def _with_approval(self, evidence: Evidence) -> Process:
        status = _APPROVALS.get(evidence.sign)
        if status is None or not evidence.subject:
            return self
        known = self._asked_before(evidence)
        approval = Approval(
            subject=_kept(evidence.subject),
            status=status,
            approval_id=_kept(evidence.approval_id) or (known.approval_id if known else ""),
            by=_kept(evidence.by),
            **self._scope(evidence.subject, known),
        )
        others = tuple(each for each in self.approvals if each is not known)
        return replace(self, approvals=(*others, approval)[-MAX_APPROVALS:])

    def _asked_before(self, evidence: Evidence) -> Approval | None:
        """Return the earlier statement on the same approval or need, which a new one replaces."""
        told = self.approvals_of(evidence.subject)
        if evidence.approval_id:
            same = (each for each in told if each.approval_id == _kept(evidence.approval_id))
            found = next(same, None)
            if found is not None:
                return found
        scope = self._scope(evidence.subject, None)
        return next((each for each in told if (each.tool, each.rules) == (*scope.values(),)), None)

    def _scope(self, subject: str, known: Approval | None) -> dict[str, str]:
        """Return the scope of an approval: as requested, else by the latest ruling."""
        asked = known or next((n for n in self.needs if is_same(n.subject, subject)), None)
        return {"tool": asked.tool if asked else "", "rules": asked.rules if asked else ""}


def rules_key(rules: Sequence[str]) -> str:
    """Return a text of at most 100 characters that identifies the rules."""
    text = ", ".join(sorted(rules))
    if len(text) <= MAX_KEY:
        return text
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def may_write(process: Process) -> bool:
    """Tell whether the state allows a write. The policy is checked in `writes.gate`."""
    return process.state is State.EXECUTE


def is_same(subject: str, other: str) -> bool:
    """Tell whether two ids of subjects are the same, ignoring case."""
    return _kept(subject).strip().casefold() == _kept(other).strip().casefold()


def _kept(text: str) -> str:
    """Return a text as it is kept: shortened and without lone surrogates."""
    return without_surrogates(text[:200])
