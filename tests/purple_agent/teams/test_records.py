"""Exercises, read as records."""

from hypothesis import given
from hypothesis import strategies as st

from purple_agent.teams.answer import final_answer
from purple_agent.teams.records import read_exercise, split_text, with_facts
from purple_agent.teams.skills import SKILLS, apply_skill

FACTS = st.dictionaries(
    st.from_regex(r"\A[a-z][a-z ]{0,20}[a-z]\Z"), st.from_regex(r"\A[a-z0-9.,]{1,20}\Z")
)


@given(st.text())
def test_any_text_can_be_read_as_an_exercise(text):
    exercise = read_exercise(text)
    facts = {}
    for name in SKILLS:
        facts.update(apply_skill(name, exercise, facts))
    assert final_answer(exercise, facts, ())


@given(FACTS, st.text())
def test_what_one_member_sends_another_can_read(facts, exercise):
    assert split_text(with_facts("Hello.", facts, exercise)) == (facts, exercise)
