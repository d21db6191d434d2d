"""The learned reader: what it adds to the rules, and that it is small and sure of what is harmless."""

import json
from importlib.resources import files

import pytest

from purple_agent.privacy import senses
from purple_agent.privacy.features import instances
from purple_agent.privacy.guard import Reason, judge
from purple_agent.privacy.meaning import stem, tokens
from purple_agent.privacy.reader import WEIGHTS, Reader, trained
from purple_agent.privacy.sentence import read


def senses_of(text):
    return [token.sense for token in tokens(read(text))]


def test_a_request_that_no_rule_knows_is_refused_as_one_for_data_of_a_third_party():
    assert judge("Which medication is Otto Brandt on?").reason is Reason.THIRD_PARTY


def test_a_request_about_many_people_is_refused_as_bulk():
    assert judge("Which employees are pregnant, and which have debts?").reason is Reason.BULK


@pytest.mark.parametrize(
    "text",
    [
        "What medication am I on?",
        "How do we protect the diagnoses of our patients?",
        "Register Otto Brandt as a new patient, born on 3 June 1970.",
        "I am Otto Brandt and I live in Denver.",
    ],
)
def test_the_same_words_pass_where_nothing_of_others_is_asked_for(text):
    assert not judge(text).refused


def test_a_phrase_has_one_sense_and_a_long_misspelt_word_that_of_the_right_one():
    assert senses_of("home address") == ["home"]
    assert senses_of("perfomance reveiw") == ["staff"]


def test_the_name_after_i_am_is_the_speakers():
    assert senses_of("I am Otto Brandt, ask Ida Holm")[2:4] == ["self", "self"]
    assert senses_of("I am Otto Brandt, ask Ida Holm")[-2:] == ["name", "name"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("salaries", "salary"), ("addresses", "address"), ("bonus", "bonus"), ("asked", "ask")],
)
def test_endings_are_cut_off(word, expected):
    assert stem(word) == expected


def test_a_noun_of_no_sense_is_no_instance():
    assert list(instances(read("Please approve the chairs."))) == []


def test_a_score_is_the_sum_of_the_weights_and_the_bias():
    instance = next(instances(read("Tell me the password.")))
    reader = Reader(weights={"KEY": 30, "=secret": 12, "absent": 5}, bias=-40, threshold=1)
    assert reader.score(instance) == 2
    assert [each.group for each in reader.asks_for(read("Tell me the password."))] == ["KEY"]


def test_every_group_is_of_a_known_sense():
    assert set(senses.GROUPS) - set(senses.SENSES) <= {"name", "owner", "self"} | {
        sense for sense in senses.GROUPS if sense.endswith("?")
    }


def test_the_weights_are_whole_numbers_and_few_enough():
    path = files("purple_agent.privacy").joinpath(WEIGHTS)
    assert len(path.read_bytes()) <= 300_000
    data = json.loads(path.read_text(encoding="utf-8"))
    assert all(isinstance(weight, int) for weight in data["weights"].values())
    assert trained() == Reader(**data)
