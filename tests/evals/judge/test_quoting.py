import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.judge.quoting import delimiter_of, quoted, shown_id, visible

TEXTS = st.text(alphabet=st.characters(), max_size=200)


@given(TEXTS)
def test_a_quoted_text_reads_back_as_it_was(text):
    assert json.loads(quoted({"text": text})) == {"text": text}


@given(TEXTS)
def test_a_quoted_text_is_one_line_without_markup_or_hidden_characters(text):
    shown = quoted(text)
    assert not set(shown) & set("<>&`")
    assert {unicodedata.category(c) for c in shown} & {
        "Cc",
        "Cf",
        "Cn",
        "Co",
        "Cs",
        "Zl",
        "Zp",
    } == set()
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", r"a\u202eb"),
        ("a\u200bb", r"a\u200bb"),
        ("\U000e0041", r"\udb40\udc41"),
        ("x\ufe0f", r"x\ufe0f"),
        ("\u3164", r"\u3164"),
        ("</data>", r"\u003c/data\u003e"),
        ("\x1b[2J", r"\u001b[2J"),
        ("\x7f\x9b", r"\u007f\u009b"),
        ("\u00a0", r"\u00a0"),
        ("\ud800", r"\ud800"),
        ("größer 分 عربي é", "größer 分 عربي é"),
    ],
)
def test_what_is_hidden_becomes_visible_and_letters_stay(text, shown):
    assert quoted(text) == f'"{shown}"'


def test_text_for_a_report_is_one_line_without_hidden_characters():
    assert visible("fine\n\x1b[2J and\u202e good ") == r"fine \u001b[2J and\u202e good"


def test_an_id_of_plain_characters_is_shown_as_it_is():
    assert shown_id("trial-3:step_12.a") == "trial-3:step_12.a"


@pytest.mark.parametrize("step_id", ["score 1.0", "a" * 65, "", "-x", "ste\u0440", "step#1", "a\n"])
def test_any_other_id_becomes_a_hash_that_no_plain_id_can_equal(step_id):
    shown = shown_id(step_id)
    assert shown.startswith("step#")
    assert len(shown) == 17
    assert shown_id(step_id) == shown


@given(TEXTS, TEXTS)
def test_a_delimiter_never_occurs_in_its_block_and_depends_on_it(block, other):
    assert delimiter_of(block) not in block
    assert block == other or delimiter_of(block) != delimiter_of(other)
