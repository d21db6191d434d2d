"""Approvals: reads evidence from the results of control tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from purple_agent.case import Json, ToolCall, ToolResult
from purple_agent.process.machine import Approval, ApprovalStatus, Evidence, Process, Sign, is_same
from purple_agent.toolbox.control import Control
from purple_agent.toolbox.verbs import words_of
from purple_agent.writes.gate import named_id

_GRANTED: Final = frozenset({"approved", "granted", "accepted"})
_DENIED: Final = frozenset({"denied", "rejected", "declined", "refused"})
_PENDING: Final = frozenset({"pending", "requested", "waiting", "submitted", "in_review"})
_SIGNS: Final = {
    ApprovalStatus.GRANTED: Sign.APPROVAL_GRANTED,
    ApprovalStatus.DENIED: Sign.APPROVAL_DENIED,
    ApprovalStatus.PENDING: Sign.APPROVAL_PENDING,
}
_OWN_IDS: Final = ("approval_id", "approval_request_id")
"""Names of an approval's own id."""
_LOOKED_UP_BY: Final = (*_OWN_IDS, "id", "request_id")
_DECIDERS: Final = ("approved_by", "denied_by", "decided_by", "approver")


def evidence_of(
    process: Process, call: ToolCall, control: Control, result: ToolResult
) -> Evidence | None:
    """Read the result of a control tool; None for a failure or an unclear result.

    The subject of an approval is that of the approval looked up by id, else the one in the call,
    else the one in the result. If they disagree, there is no evidence, so that one approval cannot
    be used for another subject.
    """
    if result.failed:
        return None
    if control == "escalate":
        return Evidence(sign=Sign.ESCALATED, detail=call.name)
    status = _status(result.value)
    if status is None:
        return None
    given, told = _by_name(call.arguments), _by_name(result.value)
    approval_id = _approval_id(given, told)
    subject = _subject(process, call, control, told, approval_id)
    if approval_id is None or subject is None:
        return None
    by = next((told[name] for name in _DECIDERS if isinstance(told.get(name), str)), "")
    return Evidence(sign=_SIGNS[status], subject=subject, approval_id=approval_id, by=by)


def _status(value: Json) -> ApprovalStatus | None:
    """Return the status of an approval: by `approved` if it is a boolean, else by `status`."""
    if not isinstance(value, Mapping):
        return None
    approved, status = value.get("approved"), str(value.get("status", "")).strip().lower()
    if status in _PENDING:
        return ApprovalStatus.PENDING
    if isinstance(approved, bool):
        return ApprovalStatus.GRANTED if approved else ApprovalStatus.DENIED
    if status in _GRANTED:
        return ApprovalStatus.GRANTED
    return ApprovalStatus.DENIED if status in _DENIED else None


def _approval_id(given: Mapping[str, Json], told: Mapping[str, Json]) -> str | None:
    """Return the approval's id; empty for none, None if the tool returned a different one."""
    asked, answered = _first(given, _OWN_IDS), _first(told, _OWN_IDS)
    if asked and answered and not is_same(asked, answered):
        return None
    return answered or asked


def _subject(
    process: Process,
    call: ToolCall,
    control: Control,
    told: Mapping[str, Json],
    approval_id: str | None,
) -> str | None:
    """Return the subject of an approval; empty if unspecified, None if contradictory."""
    given = _by_name(call.arguments)
    looks_up = control == "get_approval"
    known = _known(process, given if looks_up else {}, approval_id)
    named = named_id(call, but=_LOOKED_UP_BY if looks_up else _OWN_IDS)
    named = named or _first(given, ("subject",))
    answered = _first(told, ("subject_id", "subject"))
    if looks_up and known is not None:
        named = known.subject
    others = [known.subject] if known is not None else []
    others += [answered] if answered else []
    others += [
        str(told[name])
        for name in given
        if name.endswith("_id")
        and name not in _LOOKED_UP_BY
        and told.get(name) is not None
        and is_same(str(given[name]), named)
    ]
    subject = named or answered
    if any(not is_same(subject, each) for each in others):
        return None
    return subject


def _known(process: Process, given: Mapping[str, Json], approval_id: str | None) -> Approval | None:
    """Return the approval with the id that was looked up or returned."""
    ids = [approval_id, *(str(given[name]) for name in _LOOKED_UP_BY if given.get(name))]
    return next(
        (
            each
            for each in reversed(process.approvals)
            if each.approval_id
            and any(wanted and is_same(wanted, each.approval_id) for wanted in ids)
        ),
        None,
    )


def _first(fields: Mapping[str, Json], names: tuple[str, ...]) -> str:
    """Return the first of some fields that is a text or an integer, else an empty text."""
    found = (fields.get(name) for name in names)
    return next((str(each) for each in found if isinstance(each, str | int) and each != ""), "")


def _by_name(record: Mapping[str, Json]) -> dict[str, Json]:
    """Return a record with normalized names: `approvalId` becomes `approval_id`."""
    return {"_".join(words_of(name)): value for name, value in record.items()}
