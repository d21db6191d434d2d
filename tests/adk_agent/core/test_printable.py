"""What agents write does not reach a terminal as an order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.core.printable import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, über τ²\nnext", "plain, über τ²\nnext"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\u202eb", "a\\u202eb"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_a_terminal_would_obey_is_shown_as_an_escape(text, shown):
    assert printable(text) == shown


@given(st.text())
def test_nothing_but_printable_text_and_lines_is_left(text):
    shown = printable(text)
    assert all(mark.isprintable() or mark in "\n\t" for mark in shown)
    assert printable(shown) == shown
