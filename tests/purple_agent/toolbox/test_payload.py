"""What the answers of tools mean."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purple_agent.toolbox.payload import answer_of


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ({"result": {"id": "E1"}}, {"id": "E1"}),
        ({"result": [1, 2], "error": None, "session_id": "s"}, [1, 2]),
        ({"result": "plain words"}, "plain words"),
        ({"result": '{"id": 1}'}, {"id": 1}),
        ({"result": None}, None),
        ({"result": "win", "id": 3}, {"result": "win", "id": 3}),
        ({"id": "E1", "amount": 5}, {"id": "E1", "amount": 5}),
        ([1, 2], [1, 2]),
        (7, 7),
    ],
)
def test_a_result_is_taken_out_of_its_envelope(answer, value):
    result = answer_of(json.dumps(answer))
    assert (result.value, result.failed) == (value, False)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        ("no such order", "no such order"),
        ({"code": 3, "message": "no such\norder"}, "no such order"),
        ({"code": 3}, '{"code": 3}'),
        (["a"], '["a"]'),
        ("x" * 900, "x" * 497 + "..."),
        (" ", "the tool failed, and does not say why"),
    ],
)
def test_an_error_is_a_failure_in_one_line(error, text):
    result = answer_of(json.dumps({"error": error}))
    assert (result.text, result.value, result.failed) == (text, None, True)


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', '"\\ud800"', "[" * 200_000])
def test_what_is_no_sound_json_is_a_text(text):
    assert answer_of(text).value == text


def test_what_is_nested_too_deeply_stays_a_text():
    text = "[" * 80 + "]" * 80
    assert answer_of(text).value == text


@given(st.text())
def test_any_answer_is_a_result_that_can_be_sent_on_as_json(text):
    result = answer_of(text)
    json.dumps(result.value, ensure_ascii=False, allow_nan=False)
