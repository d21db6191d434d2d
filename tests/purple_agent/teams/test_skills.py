"""Skills over facts of any kind."""

from hypothesis import given
from hypothesis import strategies as st

from purple_agent.teams.records import Exercise
from purple_agent.teams.skills import SKILLS, apply_skill


@given(st.dictionaries(st.sampled_from(["delivered", "weight", "zone", "pieces"]), st.text()))
def test_facts_that_make_no_sense_yield_nothing_but_no_error(facts):
    rows = (("return window", "30 days"), ("lyon", "3 pieces, 2 days to deliver"))
    exercise = Exercise(records=dict.fromkeys(("policy", "stock", "shipping"), rows), questions=())
    for name in SKILLS:
        assert isinstance(apply_skill(name, exercise, facts), dict)
