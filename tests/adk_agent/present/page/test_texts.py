"""Texts as the page shows them."""

from hypothesis import given
from hypothesis import strategies as st

from adk_agent.present.page.texts import plain


@given(st.text())
def test_plain_text_has_nothing_that_cannot_be_seen(text):
    shown = plain(text)
    assert all(mark.isprintable() or mark in "\n\t" for mark in shown)
    assert plain(shown) == shown
