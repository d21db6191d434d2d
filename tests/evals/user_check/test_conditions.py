"""Orders about when something is to be said."""

import pytest

from tests.evals.user_check.talks import found

pytestmark = pytest.mark.requirement("test:simulator")
ORDER = (
    "You want to change your seat. After the third agent message, you also want to check if you have "
    "any other upcoming flights, and ask for the total cost of those flights."
)
EARLY = "Do I have other upcoming flights, and what is the total cost of those?"


def test_what_was_to_come_after_the_third_message_and_comes_before_it_is_proven():
    talk = ("Hi!", "I want another seat.", "Which one?", f"The window. {EARLY}", "Let me see.")
    assert found(*talk, instructions=ORDER) == [("condition", "proven")]


@pytest.mark.parametrize(
    "talk",
    [
        ("Hi!", "Another seat.", "Which one?", "The window.", "Done.", EARLY, "None."),
        ("Hi!", "Another seat, please. I have other flights.", "Which one?", "The window."),
        ("Hi!", "What does a seat cost in total?", "Nothing.", "Fine."),
    ],
)
def test_what_comes_in_time_or_is_something_else_is_no_fault(talk):
    assert found(*talk, instructions=ORDER) == []


@pytest.mark.parametrize(
    "order",
    [
        "After 5 exchanges, demand a transfer to some human supervisor of the airline.",
        "after five interactions with the agent, demand a transfer to some human supervisor, now",
        "After a few exchanges, demand a transfer to some human supervisor of the airline.",
    ],
)
def test_a_number_may_be_written_in_several_ways_and_must_be_one(order):
    said = "I demand a transfer to a human supervisor of your airline now."
    expected = [] if "few" in order else [("condition", "proven")]
    assert found("Hi!", said, "Why?", "Because.", instructions=order) == expected
