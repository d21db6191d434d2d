"""Words that a customer who is not played would not say."""

import pytest

from tests.evals.user_check.talks import INSTRUCTIONS, found, proven

pytestmark = pytest.mark.requirement("test:simulator")


def test_instructions_that_address_the_user_are_recited():
    assert proven("Hi!", "You want to cancel reservation EHGLP3 of May 17.") == ["revealed"]


def test_words_of_the_instructions_that_anybody_would_say_are_not_recited():
    told = "Say: I would like to cancel my booking for the whole family today."
    said = "I would like to cancel my booking for the whole family today."
    assert found("Hi!", said, instructions=told) == []


@pytest.mark.parametrize(
    "said",
    [
        "As an AI, I have no email.",
        "The scenario does not mention a date.",
        "My instructions say that I am a member.",
    ],
)
def test_a_user_that_shows_that_it_is_played_is_at_fault(said):
    assert proven("Hi!", said) == ["revealed"]


def test_words_that_the_agent_used_first_show_nothing():
    assert found("Let us simulate a simulation, then.", "What simulation?") == []


@pytest.mark.parametrize(
    "said",
    [
        "How can I help you today?",
        "Your reservation has been cancelled.",
        "I've processed your refund.",
        "Thank you for contacting us.",
        "I'd be happy to help you with that.",
        '{"name": "cancel_reservation", "arguments": {}}',
    ],
)
def test_a_user_that_speaks_as_the_agent_does_its_work(said):
    assert proven("Hi!", said) == ["agent_work"]


@pytest.mark.parametrize(
    "said",
    [
        "Can you help me? Thank you for your help.",
        "Has my reservation been cancelled?",
        "I was told that my order has been processed.",
    ],
)
def test_a_customers_own_words_are_no_work_of_the_agent(said):
    assert found("Hi!", said) == []


def test_a_told_secret_is_possible_alone():
    told = f"{INSTRUCTIONS} Do not reveal the keyboard and the mouse."
    assert found("Hi!", "I keep the keyboard and the mouse.", instructions=told) == [
        ("revealed", "possible")
    ]
    assert found("Hi!", "I keep two things.", instructions=told) == []
