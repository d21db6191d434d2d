"""How a process moves, and what it does not take for evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purple_agent.process.machine import (
    MAX_APPROVALS,
    MAX_HISTORY,
    MAX_NOTES,
    TRANSITIONS,
    ApprovalStatus,
    Evidence,
    Process,
    Sign,
    State,
    may_write,
)


def after(*signs, subject=""):
    return Process().advance(*(Evidence(sign=sign, subject=subject) for sign in signs))


CHECKED = (Sign.UNDERSTOOD, Sign.ASSESSED)


@pytest.mark.parametrize(
    ("signs", "state"),
    [
        ((), State.DECOMPOSE),
        ((Sign.UNDERSTOOD,), State.ASSESS),
        (CHECKED, State.POLICY_CHECK),
        ((*CHECKED, Sign.ALLOWED), State.EXECUTE),
        ((*CHECKED, Sign.ALLOWED, Sign.WRITTEN), State.POLICY_CHECK),
        ((*CHECKED, Sign.ALLOWED, Sign.WRITTEN, Sign.DONE), State.COMPLETE),
        ((*CHECKED, Sign.ALLOWED, Sign.WRITE_FAILED, Sign.BLOCKED), State.FAILED),
        ((*CHECKED, Sign.APPROVAL_NEEDED), State.APPROVAL_GATE),
        ((*CHECKED, Sign.APPROVAL_NEEDED, Sign.APPROVAL_PENDING), State.APPROVAL_GATE),
        ((*CHECKED, Sign.APPROVAL_NEEDED, Sign.APPROVAL_GRANTED), State.EXECUTE),
        ((*CHECKED, Sign.APPROVAL_NEEDED, Sign.APPROVAL_DENIED), State.FAILED),
        ((*CHECKED, Sign.ESCALATION_NEEDED), State.ESCALATE),
        ((*CHECKED, Sign.BLOCKED), State.FAILED),
        ((Sign.UNDERSTOOD, Sign.DONE), State.COMPLETE),
    ],
)
def test_evidence_leads_from_state_to_state(signs, state):
    assert after(*signs).state is state
    assert not after(*signs).notes


def test_a_part_that_failed_does_not_keep_the_next_part_from_being_judged():
    process = after(*CHECKED, Sign.BLOCKED, Sign.ASSESSED, Sign.ALLOWED)
    assert may_write(process)


@pytest.mark.parametrize("state", [state for state in State if state is not State.POLICY_CHECK])
def test_only_a_check_or_a_granted_approval_leads_to_where_writes_are_made(state):
    leading = {sign for sign, to in TRANSITIONS[state].items() if to is State.EXECUTE}
    assert leading <= {Sign.APPROVAL_GRANTED}
    assert not leading or state is State.APPROVAL_GATE


def test_illegal_evidence_is_noted_and_changes_nothing_else():
    process = after(Sign.ALLOWED)
    assert (process.state, process.approvals) == (State.DECOMPOSE, ())
    assert process.notes == ("allowed means nothing in DECOMPOSE",)


def test_what_a_tool_says_of_an_approval_is_kept_in_every_state():
    process = after(Sign.APPROVAL_GRANTED, subject="X7")
    assert process.state is State.DECOMPOSE
    assert process.approval(" x7 ").status is ApprovalStatus.GRANTED
    assert process.approval("X8") is None


def test_the_newest_statement_on_an_approval_counts_and_its_id_stays():
    pending = Evidence(sign=Sign.APPROVAL_PENDING, subject="X7", approval_id="A1")
    denied = Evidence(sign=Sign.APPROVAL_DENIED, subject="x7")
    (approval,) = Process().advance(pending, denied).approvals
    assert (approval.status, approval.approval_id) == (ApprovalStatus.DENIED, "A1")


def test_an_approval_of_nothing_in_particular_approves_nothing():
    assert after(Sign.APPROVAL_GRANTED, subject="").approvals == ()


def test_the_history_tells_the_states_gone_through():
    assert after(*CHECKED, Sign.ALLOWED).history == (
        State.DECOMPOSE,
        State.ASSESS,
        State.POLICY_CHECK,
        State.EXECUTE,
    )


EVIDENCE = st.builds(
    Evidence, sign=st.sampled_from(Sign), subject=st.sampled_from(["", "a", "b"]), detail=st.text()
)


@given(st.lists(EVIDENCE, max_size=30))
def test_whatever_comes_the_process_stays_in_a_state_and_writes_in_one_only(evidence):
    process = Process().advance(*evidence)
    assert process.history[-1] is process.state
    assert may_write(process) is (process.state is State.EXECUTE)


def test_what_a_process_remembers_is_bounded():
    process = Process()
    for at in range(200):
        process = process.advance(
            Evidence(sign=Sign.APPROVAL_PENDING, subject=f"S{at}"),
            Evidence(sign=Sign.WRITTEN),
            *(Evidence(sign=sign) for sign in (*CHECKED, Sign.BLOCKED)),
        )
    sizes = (len(process.approvals), len(process.notes), len(process.history))
    assert sizes == (MAX_APPROVALS, MAX_NOTES, MAX_HISTORY)
