"""What a model's answer proposes, in the forms that models use."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.case import ToolCall
from purple_agent.reasoners.model.completion import Completed
from purple_agent.reasoners.model.replies import read_reply
from purple_agent.reasoners.model.tool_schemas import tool_schemas_of
from tests.purple_agent.reasoners.model.specs import spec

BELT = tool_schemas_of([spec("get_parcel", "parcel_id")], thinking=True)


def read(text, *, native=True):
    return read_reply(Completed(content=text), BELT, native=native)


CALL = '{"name": "get_parcel", "arguments": {"parcel_id": "P-7"}}'


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"```json\n{CALL}\n```",
        f"<think>{{}} hm</think>\n{CALL}",
        '{"tool": "get_parcel", "parameters": {"parcel_id": "P-7"}}',
        '{"function": {"name": "get_parcel", "arguments": "{\\"parcel_id\\": \\"P-7\\"}"}}',
        f'{{"tool_calls": [{CALL}]}}',
    ],
)
@pytest.mark.parametrize("native", [True, False])
def test_a_call_is_read_in_the_forms_that_models_use(text, native):
    (call,) = read(text, native=native).calls
    assert (call.name, call.arguments) == ("get_parcel", {"parcel_id": "P-7"})


def test_an_object_amid_words_is_a_call_only_where_json_was_asked_for():
    text = f"I will do this: {CALL} now."
    assert read(text).words == text
    assert len(read(text, native=False).calls) == 1


def test_an_object_that_is_no_call_is_said():
    assert read('{"total": 5}').words == '{"total": 5}'


@settings(max_examples=60)
@given(st.text(max_size=80) | st.text(alphabet='{}[]":,\\ntrueame', max_size=80), st.booleans())
def test_no_text_breaks_the_reading(text, native):
    proposal = read(text, native=native)
    assert not (proposal.words and proposal.calls)


def test_deep_nesting_does_not_break_the_reading():
    assert read('{"a":' * 5_000).words
    assert read('{"a":' * 5_000, native=False).problem


def call(number):
    return ToolCall(id=f"call-{number}", name="get_parcel", arguments={"n": number})
