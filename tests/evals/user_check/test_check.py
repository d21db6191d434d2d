"""Orders, endings, and what the check of a user returns as a whole."""

import pytest

from evals.user_check import check_user, heard_in
from evals.user_check.model import MOST_FAULTS
from tests.evals.user_check.talks import INSTRUCTIONS, found, proven, talk

pytestmark = pytest.mark.requirement("test:simulator")

POLITE = f"{INSTRUCTIONS} Always end each of your replies with 'You are the best.'"
STAYING = f"{INSTRUCTIONS} Do not ask to be transferred."


def test_a_message_without_its_fixed_end_breaks_an_order():
    assert proven("Hi!", "Cancel it. You are the best.", "Ok?", "Yes.", instructions=POLITE) == [
        "condition"
    ]


def test_a_stop_token_needs_no_fixed_end():
    lines = ("Hi!", "Cancel it. You are the best!", "Done.", "###STOP###")
    assert found(*lines, instructions=POLITE) == []


def test_asking_for_a_forbidden_transfer_breaks_an_order():
    assert found("No.", "Let me speak to a supervisor.", instructions=STAYING) == [
        ("condition", "proven")
    ]


def test_taking_a_transfer_that_was_offered_is_possible_alone():
    lines = ("Shall I transfer you to a human?", "Yes, transfer me.")
    assert found(*lines, instructions=STAYING) == [("condition", "possible")]


def test_agreeing_and_leaving_in_one_message_is_proven():
    assert proven("Hi!", "Cancel it.", "Shall I cancel it?", "Yes, please. ###STOP###") == [
        "left_early"
    ]


def test_leaving_with_the_first_words_is_proven():
    assert proven("Hi!", "###STOP###") == ["left_early"]


@pytest.mark.parametrize(
    "last", ["###STOP###", "###OUT-OF-SCOPE###", "Yes, transfer me. ###TRANSFER###"]
)
def test_leaving_on_a_question_that_may_be_right_is_possible_alone(last):
    assert found("Hi!", "Cancel it.", "Which date?", last) == [("left_early", "possible")]


def test_leaving_once_the_agent_is_done_is_fine():
    lines = ("Hi!", "Cancel it.", "Done. Anything else?", "No, thank you. ###STOP###")
    assert found(*lines) == []


def test_proven_faults_come_first_and_no_more_than_ten_are_kept():
    orders = " ".join(f"Pay ${n}00." for n in range(2, 20))
    check = check_user(heard_in(talk("Hi!", orders, "Which?", "W2378156."), INSTRUCTIONS))
    assert len(check.faults) == MOST_FAULTS
    assert [each.certainty for each in check.faults[:2]] == ["proven", "possible"]
    assert len(check.proven) == 1


def test_an_empty_conversation_has_no_fault():
    assert check_user(heard_in([], "")).faults == ()
    assert check_user(heard_in([{"role": "user", "content": None}], "")).faults == ()
