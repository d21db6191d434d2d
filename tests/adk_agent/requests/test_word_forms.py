"""Words are brought to one form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.requests import word_forms
from adk_agent.requests.word_forms import forms, is_filler, joined, normal_form, stem


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("cancelled", "canceling"),
        ("cancellations", "cancel"),
        ("changes", "changing"),
        ("shipped", "shipping"),
        ("bags", "luggage"),
        ("moved", "move"),
        ("applied", "apply"),
        ("deliveries", "delivered"),
        ("customer's", "customer"),
        ("customer\u2019s", "customer"),
        ("Boxes", "box"),
        ("refunds", "reimbursed"),
        ("e-mail", "E-mails"),
    ],
)
def test_words_that_mean_the_same_have_one_form(one: str, other: str) -> None:
    assert normal_form(one.replace("-", "")) == normal_form(other.replace("-", ""))


@pytest.mark.parametrize(
    ("one", "other"),
    [("plane", "plan"), ("address", "add"), ("return", "exchange"), ("bus", "bu"), ("sing", "s")],
)
def test_words_that_only_look_alike_stay_apart(one: str, other: str) -> None:
    assert normal_form(one) != normal_form(other)


def test_a_word_with_a_hyphen_is_found_by_its_parts_and_as_one() -> None:
    assert forms("t-shirts") == ("t", "shirt", "tshirt")
    assert forms("shirts") == ("shirt",)
    assert joined("gift", "cards") == normal_form("giftcard")


def test_a_stem_is_its_own_stem_for_every_listed_word() -> None:
    for line in word_forms.SYNONYMS:
        assert len({normal_form(word) for word in line}) == 1


def test_there_are_few_synonyms_and_no_word_is_in_two_groups() -> None:
    assert len(word_forms.SYNONYMS) <= 60
    stems = [{stem(word) for word in line} for line in word_forms.SYNONYMS]
    assert sum(map(len, stems)) == len(set().union(*stems))


def test_words_of_form_say_nothing_about_a_topic() -> None:
    assert all(map(is_filler, ["the", "Tasks", "about", "customer", "don't", "don\u2019t"]))
    assert not any(map(is_filler, ["baggage", "refund", "order"]))


@given(st.text(max_size=30))
def test_any_text_has_a_form(word: str) -> None:
    assert normal_form(word) == normal_form(word.upper().lower()) or not word.isascii()
    forms(word)
