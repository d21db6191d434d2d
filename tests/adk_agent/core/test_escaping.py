"""What agents write is shown, and neither obeyed by a terminal nor rendered as markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.core.escaping import escape_controls, escape_markdown, one_line


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
    assert escape_controls(text) == shown


@given(st.text())
def test_nothing_but_printable_text_and_lines_is_left(text):
    shown = escape_controls(text)
    assert all(mark.isprintable() or mark in "\n\t" for mark in shown)
    assert escape_controls(shown) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3 < 4 of 5, a&b", "3 < 4 of 5, a&b"),
        ("<img src=x onerror=f()>", "&lt;img src=x onerror=f()>"),
        ("</p><!-- -->", "&lt;/p>&lt;!-- -->"),
        ("![pixel](http://a/b.png)", "!\\[pixel]\\(http://a/b.png)"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("## Summary\n- one\n", "## Summary\n- one\n"),
    ],
)
def test_markup_is_shown_and_plain_text_is_left_alone(text, shown):
    assert escape_markdown(text) == shown


@given(st.text(alphabet="<>![]()a/\x1b\n "))
def test_what_is_harmless_stays_as_it_is(text):
    once = escape_markdown(text)
    assert escape_markdown(once) == once
    assert "![" not in once
    assert "](" not in once


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\n two", "one two"),
        ("one two three four", "one two ..."),
        ('{"a":"one-two-three"}', '{"a":"one-t ...'),
        ("a b-c-d-e-f-g-h-i", "a b-c-d-e-f ..."),
    ],
)
def test_a_long_text_is_cut_at_a_late_space(text, shown):
    assert one_line(text, 11) == shown
