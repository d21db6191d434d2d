"""Text from outside, where markdown is rendered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.core.harmless import harmless


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
    assert harmless(text) == shown


@given(st.text(alphabet="<>![]()a/\x1b\n "))
def test_what_is_harmless_stays_as_it_is(text):
    once = harmless(text)
    assert harmless(once) == once
    assert "![" not in once
    assert "](" not in once
