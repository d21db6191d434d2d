"""Reports of members, and what can be read of them."""

from hypothesis import given
from hypothesis import strategies as st

from purple_agent.teams.answer import read_failed, report
from purple_agent.teams.records import read_facts

FACTS = st.dictionaries(
    st.from_regex(r"\A[a-z][a-z ]{0,20}[a-z]\Z"), st.from_regex(r"\A[a-z0-9.,]{1,20}\Z")
)


@given(FACTS, st.lists(st.from_regex(r"\A[a-z]{1,9}\Z"), max_size=4, unique=True))
def test_a_report_can_be_read_back(facts, failed):
    text = report(facts, failed)
    assert read_facts(text) == facts
    assert list(read_failed(text)) == failed
