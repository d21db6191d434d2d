"""Values that neither the user's instructions nor the agent gave."""

import pytest

from evals.user_check import check_user, heard_in
from tests.evals.user_check.talks import INSTRUCTIONS, found, proven, talk

pytestmark = pytest.mark.requirement("test:simulator")


@pytest.mark.parametrize(
    "said",
    [
        "My order is #W2378156.",
        "My email is emma.kim@example.com.",
        "Call me at 555 123 4567 890.",
        "My name is Emma Stone.",
        "My zip code is 28236.",
        "My name's Anna Lee.",
        "It is the flight on June 3rd.",
        "It is the flight on 2024-06-03.",
        "It is the flight on 3rd of June.",
    ],
)
def test_a_value_without_a_source_is_invented(said):
    assert proven("Which one?", said) == ["invented"]


@pytest.mark.parametrize(
    "said",
    [
        "It is EHGLP3, and I am emma_kim_9957.",
        "My name is Emma Kim.",
        "My user id is Emma Kim 9957.",
        "The flight is on May 17th.",
        "The flight is on 2024-05-17.",
        "The flight is on the 17 May.",
        "I may 5 times have called. It took 20 minutes, 1000 km.",
        "I have a 256GB phone with Android 14.",
    ],
)
def test_what_the_instructions_hold_is_not_invented_however_it_is_written(said):
    assert found("Which one?", said) == []


def test_what_the_agent_said_before_is_no_invention():
    assert found("Is it #W2378156 of 6/3?", "Yes, W2378156 of June 3.") == []


def test_what_the_agent_says_only_later_is_one():
    assert proven("Which?", "W2378156.", "I see W2378156.", "Yes, W2378156.") == ["invented"]


def test_what_the_users_own_tool_answered_is_no_invention():
    messages = talk("Which line?", "Wait.", "And?")
    messages += talk(results=["line L1002003"])
    messages.append({"role": "user", "content": "It is L1002003."})
    assert check_user(heard_in(messages, INSTRUCTIONS)).faults == ()


def test_what_an_agents_tool_answered_is_one_because_the_user_does_not_see_it():
    messages = talk("Which line?", "Wait.", "And?")
    messages.append({"role": "tool", "requestor": "assistant", "content": "line L1002003"})
    messages.append({"role": "user", "content": "It is L1002003."})
    (fault,) = check_user(heard_in(messages, INSTRUCTIONS)).faults
    assert (fault.kind, fault.certainty, fault.message) == ("invented", "proven", 4)
    assert fault.quote == "It is L1002003."


def test_a_date_that_can_be_reckoned_is_possible_alone():
    lines = ("When?", "On May 24.")
    assert found(*lines, instructions=f"{INSTRUCTIONS} You return a week later.") == [
        ("invented", "possible")
    ]


def test_an_amount_may_be_a_sum_so_it_is_possible_alone():
    assert found("It is $100 and $50.", "So $150 in all, $100 for me?") == [
        ("invented", "possible")
    ]


def test_messages_that_the_task_brings_along_are_not_the_users():
    assert found("Which?", "W2378156.", "And?", "W2378156 it is.", began=2) == []
