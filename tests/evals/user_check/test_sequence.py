"""Orders about when to say something, and requests that the instructions do not hold."""

import pytest

from tests.evals.user_check.talks import found, proven

pytestmark = pytest.mark.requirement("test:simulator")

LATER = (
    "You want to return a lamp. After the third agent message, you also want to ask for the price "
    "of the cheapest blue chair."
)
SECOND_TRY = (
    "When asked for the order id, provide 4417 first. If that doesn't work, respond exactly with "
    "'I left out the hash sign'."
)
KEEPS = (
    "You want to remove the pen from the order. If that is not possible, keep the order as it is."
)
WHEN_ASKED = "You want to pay with the silver voucher (do not mention this unless the agent asks)."
ASKS = "Tell me, what is the price of the cheapest blue chair?"


def test_a_request_before_the_message_that_it_was_to_follow_is_a_proven_fault():
    assert proven("Hi!", ASKS, instructions=LATER) == ["condition"]


def test_a_request_after_that_message_is_in_order():
    said = ("Hi!", "I return a lamp.", "Which one?", "The tall one.", "Very well.", ASKS)
    assert found(*said, instructions=LATER) == []


def test_what_the_agent_raised_may_be_answered_early():
    assert found("Was it the blue chair?", ASKS, instructions=LATER) == [("condition", "possible")]


def test_another_request_before_that_message_is_none_of_its():
    assert found("Hi!", "I want to return a lamp.", instructions=LATER) == []


def test_the_second_answer_without_the_first_is_a_proven_fault():
    said = ("Hi!", "Hello.", "Your order?", "Sorry, I left out the hash sign!")
    assert proven(*said, instructions=SECOND_TRY) == ["condition"]


def test_the_second_answer_after_the_first_is_in_order():
    said = ("Your order?", "4417.", "No such order.", "I left out the hash sign.")
    assert found(*said, instructions=SECOND_TRY) == []


def test_an_order_that_was_to_be_kept_and_is_cancelled_is_a_proven_fault():
    said = ("I can only cancel all of it.", "Fine, please cancel the whole order.")
    assert proven(*said, instructions=KEEPS) == ["condition"]


@pytest.mark.parametrize(
    "said",
    ["Would you cancel the whole order?", "Please do not cancel the whole order."],
)
def test_asking_whether_it_would_be_cancelled_and_refusing_that_are_in_order(said):
    assert found("I can only cancel all of it.", said, instructions=KEEPS) == []


def test_an_order_that_may_be_cancelled_elsewhere_in_the_instructions_is_not_judged():
    told = f"{KEEPS} If the agent insists, cancel the order."
    assert found("Hi!", "Please cancel the whole order.", instructions=told) == []


def test_what_was_to_wait_for_a_question_and_came_first_is_possible():
    said = "I will pay with the silver voucher."
    assert found("Hi!", said, instructions=WHEN_ASKED) == [("condition", "possible")]


def test_what_was_to_wait_for_a_question_may_follow_it():
    said = "With the silver voucher."
    assert found("How would you like to pay?", said, instructions=WHEN_ASKED) == []


def test_money_back_that_nobody_named_is_possible():
    told = "You want to exchange a lamp for a taller one."
    said = ("None is taller.", "Is it possible to get a refund?")
    assert found(*said, instructions=told) == [("condition", "possible")]


@pytest.mark.parametrize("told", ["You want a refund for a lamp.", "You want to return a lamp."])
def test_money_back_that_the_instructions_imply_is_in_order(told):
    assert found("Hi!", "Is it possible to get a refund?", instructions=told) == []


def test_money_back_that_the_agent_offered_is_in_order():
    told = "You want to exchange a lamp for a taller one."
    said = ("None is taller. I can refund it.", "Can you refund it to my card?")
    assert found(*said, instructions=told) == []


@pytest.mark.parametrize(
    "order",
    [
        "After 5 exchanges, demand a transfer to some human supervisor of the airline.",
        "You are calm. After five interactions with the agent, demand a human supervisor for a transfer.",
        "After a few exchanges, demand a transfer to some human supervisor of the airline.",
    ],
)
def test_the_number_of_messages_may_be_written_in_several_ways_and_must_be_one(order):
    said = "I demand a transfer to a human supervisor of your airline now."
    expected = [] if "few" in order else [("condition", "proven")]
    assert found("Hi!", said, "Why?", "Because.", instructions=order) == expected
