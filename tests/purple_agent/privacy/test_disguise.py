"""The readings of a text: few, bounded, and the same twice."""

from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.privacy.disguise import fold, readings


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet=st.sampled_from("ab \u200b\u0301\u0430."), max_size=60))
def test_folding_twice_changes_nothing(text):
    assert fold(fold(text)) == fold(text)


def test_the_readings_of_a_text_are_few_and_no_longer_than_a_fixed_multiple():
    text = "QUJD" * 500 + " " + "6162" * 500
    found = list(readings(text))
    assert len(found) <= 5
    assert sum(map(len, found)) <= 5 * len(text)
