"""Instructions in the second person, as the user says them; and what is not said at all."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.tau2.first_person import sentences, statement

SAID = {
    "You want to cancel your parcel P-7.": "I want to cancel my parcel P-7.",
    "You are Ada Byron.": "My name is Ada Byron.",
    "You're Ada, and you've lost it yourself.": "I'm Ada, and I've lost it myself.",
    "You name is Ada and your code is 7": "My name is Ada and my code is 7.",
    "You were told that it suits you.": "I was told that it suits me.",
    "It was sent to you, because you asked for it.": "It was sent to me, because I asked for it.",
    "You think they owe you a refund.": "I think they owe me a refund.",
    "The lamp you bought helps you read.": "The lamp I bought helps me read.",
    "Cancel the whole order.": "I want to cancel the whole order.",
    "Also, return the lamp you just bought.": "Also I want to return the lamp I just bought.",
    "If it is sold out, cancel the order.": "If it is sold out, I want to cancel the order.",
    "For order #7, exchange the lamp.": "For order #7, I want to exchange the lamp.",
    "Try to book a seat.": "I want to book a seat.",
    "Ask how much it costs.": "I want to know how much it costs.",
    "Ask the agent to refund you.": "I want you to refund me.",
    "You want the agent to find your lamp.": "I want you to find my lamp.",
    "You wonder if the agent can help you.": "I wonder if you can help me.",
    "Tell the agent that you are a member.": "I am a member.",
    "Insist that you paid already.": "I paid already.",
    "You do not want to reveal your address.": "I would rather not give my address.",
    "You want it back, and insist on it.": "I want it back.",
    "You like red (mention this only if the agent asks).": "I like red.",
    "There are 3 and be adamant about it.": "There are 3.",
    "Code: X7": "Code: X7.",
    "You want {'size': 'your own', 'color': 'red'}": "I want {'size': 'my own', 'color': 'red'}.",
}
NOT_SAID = (
    "Be polite.",
    "Do not reveal your address.",
    "Don't accept the first offer.",
    "Make sure you mention both.",
    "Abruptly mention your cat.",
    "If the agent offers a voucher, refuse it.",
    "Never make up the results of tool calls.",
    "Ask for it persistently.",
    "The code is 1234 (do not share this with the agent).",
    "This is incorrect, but is meant to test the agent.",
    "If the price is too high,",
    "Continue the conversation about lamps.",
    "Under no circumstances will you pay.",
    "Pretend that it is lost, and be angry.",
)


@pytest.mark.parametrize("instruction", SAID)
def test_what_the_user_makes_of(instruction):
    assert statement(instruction) == SAID[instruction]


@pytest.mark.parametrize("instruction", NOT_SAID)
def test_a_direction_is_not_spoken(instruction):
    assert statement(instruction) is None


def test_a_list_of_wishes_is_one_sentence():
    text = "You want to:\n- add a bag\n- change the name\n\nBe brief."
    assert sentences(text) == ["You want to add a bag, change the name", "Be brief."]


def test_abbreviations_do_not_end_a_sentence():
    assert sentences("Delay it, i.e. A day. Your home is 1 Elm St. B.") == [
        "Delay it, i.e. A day.",
        "Your home is 1 Elm St. B.",
    ]


@given(st.text() | st.lists(st.sampled_from([*SAID, *NOT_SAID])).map(" ".join))
def test_whatever_stands_in_the_instructions_no_you_is_left_of_the_user(text):
    for sentence in sentences(text):
        said = statement(sentence)
        assert said is None or (said.strip() and "#" * 3 not in said)
        if said is not None and "agent" not in sentence.lower():
            assert not re.search(r"\b(?:you|your|yours|yourself)\b", said, re.IGNORECASE)
