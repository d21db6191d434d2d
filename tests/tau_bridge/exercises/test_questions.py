"""The bundled exercises: what an answer must contain, and that the question does not."""

import json
import re
from pathlib import Path

import pytest

from purple_agent.teams.skills import SKILLS

DATA = json.loads((Path(__file__).parents[3] / "data/exercises.json").read_bytes())
EXERCISES = DATA["exercises"]
each = pytest.mark.parametrize("exercise", EXERCISES, ids=[one["id"] for one in EXERCISES])


def holds(text, wanted):
    """Whether `wanted` stands in `text` by itself; case and the kind of white space do not count."""
    said, wanted = (" ".join(words.casefold().split()) for words in (text, wanted))
    alone = rf"(?<!\w)(?<!\d[.,]){re.escape(wanted)}(?!\w)(?![.,]\d)"
    return re.search(alone, said) is not None


def is_right(exercise, text):
    return all(
        any(holds(text, wanted) for wanted in group) for group in exercise["must_contain"]
    ) and not any(holds(text, wrong) for wrong in exercise["must_not_contain"])


def test_there_are_at_least_twelve_with_ids_of_their_own():
    assert DATA["version"] == "1"
    assert len(EXERCISES) >= 12
    assert len({exercise["id"] for exercise in EXERCISES}) == len(EXERCISES)


@each
def test_an_exercise_has_every_field_and_needs_several_skills(exercise):
    assert list(exercise) == [
        *("id", "title", "skills", "prompt", "must_contain", "must_not_contain", "answer"),
    ]
    assert len(exercise["skills"]) >= 3
    assert set(exercise["skills"]) <= set(SKILLS)


@each
def test_saying_the_question_back_is_no_right_answer(exercise):
    assert not is_right(exercise, exercise["prompt"])
    assert any(
        not any(holds(exercise["prompt"], wanted) for wanted in group)
        for group in exercise["must_contain"]
    )


@each
def test_the_answer_that_is_given_is_right(exercise):
    assert is_right(exercise, exercise["answer"])


@each
def test_each_question_has_something_that_its_answer_must_contain(exercise):
    questions = re.findall(r"^\d+\. ", exercise["prompt"], re.MULTILINE)
    assert len(exercise["must_contain"]) in {len(questions), len(questions) - 1}


@each
def test_what_an_answer_must_not_contain_is_no_part_of_what_it_must(exercise):
    for group in exercise["must_contain"]:
        for wanted in group:
            assert not any(
                holds(wrong, wanted) and wrong == wanted for wrong in exercise["must_not_contain"]
            )


def test_every_skill_is_needed_somewhere():
    assert {skill for exercise in EXERCISES for skill in exercise["skills"]} == set(SKILLS)
