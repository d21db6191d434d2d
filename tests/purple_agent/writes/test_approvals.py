"""What the words of control tools show of an approval, and of whose."""

import pytest

from purple_agent.case import ToolCall, ToolResult
from purple_agent.process.machine import ApprovalStatus, Evidence, Process, Sign
from purple_agent.toolbox.control import control_of
from purple_agent.writes.approvals import evidence_of

WAITING = Process().advance(
    Evidence(sign=Sign.APPROVAL_PENDING, subject="EXP-1", approval_id="AP-1")
)
REFUSED = Process().advance(Evidence(sign=Sign.APPROVAL_DENIED, subject="EXP-1"))


def shown(name, arguments, value, process=WAITING):
    call = ToolCall(id="", name=name, arguments=arguments)
    return evidence_of(process, call, control_of(name), ToolResult(text="", value=value))


def granted(name, arguments, value, process=WAITING):
    """The subjects that count as approved after a call."""
    found = shown(name, arguments, value, process)
    after = process.advance(found) if found else process
    return [a.subject for a in after.approvals if a.status is ApprovalStatus.GRANTED]


@pytest.mark.parametrize(
    ("arguments", "told", "subjects"),
    [
        ({"approval_id": "AP-1"}, {}, ["EXP-1"]),
        ({"approvalId": "AP-1"}, {}, ["EXP-1"]),
        ({"id": "AP-1"}, {}, ["EXP-1"]),
        ({"subject_id": "EXP-1"}, {}, ["EXP-1"]),
        ({"approval_id": "AP-1", "subject_id": "EXP-2"}, {"subject_id": "EXP-1"}, ["EXP-1"]),
        ({"approval_id": "AP-1", "subject_id": "EXP-2"}, {"subject_id": "EXP-2"}, []),
        ({"approval_id": "AP-1"}, {"approval_id": "AP-2"}, []),
        ({"approval_id": "AP-9", "subject_id": "EXP-2"}, {"subject_id": "EXP-1"}, []),
        ({"approval_id": "AP-9", "expense_id": "EXP-2"}, {"expense_id": "EXP-1"}, []),
        ({"approval_id": "AP-9"}, {"subject_id": "EXP-2"}, ["EXP-2"]),
        ({"approval_id": "AP-9"}, {}, []),
    ],
)
def test_an_approval_that_is_looked_up_is_of_what_it_was_asked_for(arguments, told, subjects):
    assert granted("get_approval", arguments, {"approved": True, **told}) == subjects


@pytest.mark.parametrize(
    ("arguments", "told", "subjects"),
    [
        ({"subject_id": "EXP-2"}, {}, ["EXP-2"]),
        ({"expenseId": "EXP-2"}, {"approver_id": "M-1"}, ["EXP-2"]),
        ({"subject": "EXP-2"}, {}, ["EXP-2"]),
        ({"subject_id": "EXP-2"}, {"subject_id": "EXP-1"}, []),
        ({"subject_id": "EXP-2"}, {"approval_id": "AP-1"}, []),
        ({"reason": "EXP-2"}, {"subject_id": "EXP-2"}, ["EXP-2"]),
        ({"reason": "EXP-2"}, {}, []),
    ],
)
def test_an_approval_that_is_asked_for_is_of_what_call_and_tool_agree_on(arguments, told, subjects):
    assert granted("request_approval", arguments, {"approved": True, **told}) == subjects


def test_an_approval_without_an_id_is_not_found_by_another_without_one():
    value = {"approved": True, "subject_id": "EXP-2"}
    assert granted("request_approval", {"reason": "EXP-2"}, value, REFUSED) == ["EXP-2"]


def test_who_decided_is_what_the_tool_says():
    value = {"approved": True, "approved_by": "M. Curie"}
    assert shown("request_approval", {"subject_id": "EXP-2"}, value).by == "M. Curie"


@pytest.mark.parametrize(
    "value", [None, "approved", [], {"status": "perhaps"}, {"approved": "yes"}]
)
def test_an_answer_that_is_not_clear_shows_nothing(value):
    assert shown("request_approval", {"subject_id": "EXP-2"}, value) is None
