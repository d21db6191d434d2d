"""What was said and done, as the messages that a model is sent."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.case import Entry, ToolCall, ToolResult
from purple_agent.reasoners.model.tool_schemas import tool_schemas_of
from purple_agent.reasoners.model.transcript import UNANSWERED, transcript
from tests.purple_agent.reasoners.model.specs import spec

BELT = tool_schemas_of([spec("get_parcel", "parcel_id")], thinking=True)
NONE = tool_schemas_of([], thinking=False)


def call(number):
    return ToolCall(id=f"call-{number}", name="get_parcel", arguments={"n": number})


ENTRIES = st.lists(
    st.one_of(
        st.sampled_from(["user", "agent", "note"]).map(lambda role: Entry(role=role, text=role)),
        st.integers(0, 4).map(lambda n: Entry(role="call", call=call(n))),
        st.integers(0, 4).map(
            lambda n: Entry(role="result", call=call(n), result=ToolResult(text=f"r{n}"))
        ),
    ),
    max_size=12,
)


@settings(max_examples=80)
@given(ENTRIES, st.booleans())
def test_every_call_is_followed_by_its_result_whatever_order_they_came_in(entries, native):
    messages = transcript(entries, BELT, native=native)
    for before, after in pairwise([*messages, {"role": "end"}]):
        if "tool_calls" in before:
            assert after["tool_call_id"] == before["tool_calls"][0]["id"]
        assert not before["role"] == after["role"] == "user"
    tools = sum(message["role"] == "tool" for message in messages)
    assert tools == sum("tool_calls" in message for message in messages)


def test_a_call_without_a_result_says_so():
    messages = transcript([Entry(role="call", call=call(1))], BELT, native=True)
    assert UNANSWERED in messages[1]["content"]


def test_a_long_conversation_keeps_its_newest_results_whole():
    entries = []
    for number in range(30):
        result = ToolResult(text=f"{number}:" + "x" * 11_000)
        entries += [
            Entry(role="call", call=call(number)),
            Entry(role="result", call=call(number), result=result),
        ]
    sizes = [len(m["content"]) for m in transcript(entries, NONE, native=True) if m["content"]]
    assert max(sizes[:26]) < 800
    assert min(sizes[26:]) > 11_000
