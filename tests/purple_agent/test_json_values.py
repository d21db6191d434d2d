"""What texts stand for as JSON, within bounds."""

import json

import pytest

from purple_agent.json_values import MAX_DEPTH, depth_exceeds, json_or_text, read_json


@pytest.mark.parametrize("text", ["{", "NaN", "[1e5, Infinity]", '"\\ud800"', "[" * 100_000, ""])
def test_a_text_that_is_no_json_of_use_stands_for_itself(text):
    with pytest.raises(ValueError):  # noqa: PT011 - the message is that of the JSON reader
        read_json(text)
    assert json_or_text(text) == text


@pytest.mark.parametrize("value", [None, 0, "a", [], {"a": [1, {"b": "\u00fc\U0001f600"}]}])
def test_json_is_read(value):
    assert json_or_text(json.dumps(value)) == value


def test_json_is_read_down_to_a_depth():
    text = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json_or_text(text) == read_json(text)
    assert isinstance(json_or_text(f"[[{text}]]"), str)


def test_depth_counts_lists_and_objects_and_not_what_is_in_the_last():
    assert not depth_exceeds({"a": [1, 2]}, 1)
    assert depth_exceeds({"a": [[1]]}, 1)
