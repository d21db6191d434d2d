"""What is remembered of a text beyond its conversation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.memory.masking import MAX_CHARACTERS, masked


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My name is Ada Lovelace", "My name is <name>"),
        ("I'm Élodie, hello", "I'm <name>, hello"),
        ("write to ada.l@mail.example.org", "write to <email>"),
        ("call +49 170 1234567 or (555) 123-4567", "call <phone> or <phone>"),
        ("card 4111 1111 1111 1111", "card <card>"),
        ("SSN 123-45-6789", "SSN <ssn>"),
        ("my password is hunter2!", "my password is <secret>"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN <iban>"),
        ("born 1990-04-01", "born <date>"),
        ("ship to 12 Main Street now", "ship to <address> now"),
        ("see https://example.org/a?b=c", "see <url>"),
        ("expense EXP-1042", "expense <id>"),
        ("order #W1234567", "order <id>"),
        ("user ada_lovelace_42", "user <id>"),
        ("host 10.1.2.3", "host <id>"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "id <id>"),
        ("ticket 4711007", "ticket <id>"),
        ("expense ＥＸＰ－１０４２", "expense <id>"),
    ],
)
def test_ids_and_personal_data_are_masked(text, kept):
    assert masked(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "Please approve an expense over 1,250.50 EUR",
        "The limit is 499.99 within 30 days, 4-8 weeks, 24-7",
        "an SLA-breach in the in-house system",
    ],
)
def test_amounts_and_plain_words_stay(text):
    assert masked(text) == text


def test_only_the_beginning_of_a_long_text_is_looked_at():
    assert len(masked("word " * 100_000)) <= MAX_CHARACTERS


@settings(max_examples=50)
@given(st.text(max_size=200))
def test_masking_twice_changes_nothing_more_than_names(text):
    once = masked(text)
    assert sum(map(str.isdigit, masked(once))) <= sum(map(str.isdigit, once))


@pytest.mark.parametrize("piece", ["_", "-", "a1", "A a", "(1", "+1 ", "Aa ", "@", "1.", "#"])
def test_hostile_repetition_is_masked_at_once(piece):
    assert isinstance(masked(piece * 2_000), str)
