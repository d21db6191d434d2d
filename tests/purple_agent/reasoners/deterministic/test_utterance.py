"""Values in a text: what kind they are, and that hostile texts cost little."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.reasoners.deterministic.clauses import clauses_of
from purple_agent.reasoners.deterministic.utterance import LONGEST_TEXT, utterance_of


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("see EXP-1001 there", "id", "EXP-1001"),
        ("for user_1.", "id", "user_1"),
        ("order #W2378", "id", "#W2378"),
        ("a total of $1,250.50 please", "money", "$1,250.50"),
        ("pay 80 EUR", "money", "80 EUR"),
        ("a 5% credit", "percent", "5%"),
        ("on 2026-03-05 then", "date", "2026-03-05"),
        ("to ann@example.org, please", "email", "ann@example.org"),
        ("named 'Blue Door' here", "quoted", "Blue Door"),
        ("take three of them", "number", "three"),
    ],
)
def test_a_value_is_found_by_its_form(text: str, kind: str, value: str) -> None:
    assert (kind, value) in {(each.kind, each.text) for each in utterance_of(text).values}


@pytest.mark.parametrize(
    ("text", "number"), [("$1,250.50", "1250.50"), ("3k USD", "3000"), ("twelve", "12")]
)
def test_a_number_is_read_without_its_trimmings(text: str, number: str) -> None:
    assert [each.number for each in utterance_of(text).values] == [Decimal(number)]


def test_an_apostrophe_opens_no_quotation() -> None:
    assert not [e for e in utterance_of("It's Ann's and Bob's order").values if e.kind == "quoted"]


@settings(max_examples=25, deadline=None)
@given(st.text(alphabet="aA1-_.,'\"#$% @\n:andif", max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for value in utterance_of(text).values:
        assert 0 <= value.start < value.end <= len(text)
    clauses_of(text)


def test_a_hostile_text_is_read_up_to_a_bound() -> None:
    for part in ("a-", "1,", "'a ", "to to ", "A1_-", "is is "):
        text = part * LONGEST_TEXT
        assert all(value.end <= LONGEST_TEXT for value in utterance_of(text).values)
        assert len(clauses_of(text)) <= 25
