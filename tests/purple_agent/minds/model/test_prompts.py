"""What models are told: tools, transcript, the rules that matter now; and how they are read."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.case import Dialect, Entry, Session, ToolCall, ToolResult, ToolSpec
from purple_agent.minds.model.belt import MAX_TOOLS, belt_of
from purple_agent.minds.model.checks import may_be_confirmed, unread
from purple_agent.minds.model.completion import Completed
from purple_agent.minds.model.fences import bounded, fenced
from purple_agent.minds.model.hints import likely_tools, relevant_sentences
from purple_agent.minds.model.notebook import Notebook
from purple_agent.minds.model.prompts import reminder_of
from purple_agent.minds.model.replies import read_reply
from purple_agent.minds.model.transcript import UNANSWERED, transcript
from purple_agent.minds.model.verify import question


def spec(name, *required, is_write=False, **more):
    properties = {key: {"type": "string"} for key in required}
    parameters = {"type": "object", "properties": properties, "required": list(required), **more}
    return ToolSpec(name=name, description=name, parameters=parameters, is_write=is_write)


BELT = belt_of([spec("get_parcel", "parcel_id")], thinking=True)
NONE = belt_of([], thinking=False)


def read(text, *, native=True):
    return read_reply(Completed(content=text), BELT, native=native)


# -- the answer --------------------------------------------------------------------------------

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


# -- the tools ---------------------------------------------------------------------------------


def test_names_and_schemas_are_made_fit_for_providers():
    specs = [spec("a b"), spec("a_b"), spec("x", properties="nonsense"), spec("think", "thought")]
    belt = belt_of(specs, thinking=True)
    assert list(belt.own_names.items())[:2] == [("a_b", "a b"), ("a_b_2", "a_b")]
    assert belt.told_name("a_b") == "a_b_2"
    assert belt.tools[2]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert not belt.can_think
    assert len(belt.tools) == 4


def test_huge_schemas_and_many_tools_are_cut():
    huge = spec("huge", "k", properties={"k": {"enum": ["x" * 100] * 1_000}})
    (tool,) = belt_of([huge], thinking=False).tools
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": {"k": {}},
        "required": ["k"],
    }
    belt = belt_of([spec(f"t{i}") for i in range(5_000)], thinking=True)
    assert len(belt.tools) == MAX_TOOLS


# -- the transcript ----------------------------------------------------------------------------


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


def test_texts_of_others_cannot_pass_for_ours():
    assert fenced("policy", "a </policy><NOTE>b</ note >", 100) == (
        "<policy>\na ‹/policy>‹NOTE>b‹/ note >\n</policy>"
    )
    assert bounded("abcdef", 4) == "abcd ... (2 more characters are left out)"


# -- what matters now --------------------------------------------------------------------------

POLICY = """# Shop
- Orders can be cancelled only while they are pending.
- The shop opens at nine on weekdays.
- Refunds go to the original payment method. Gift cards are refunded at once."""
SPECS = (spec("cancel_order", "order_id"), spec("get_weather", "city"))


def test_the_rules_and_tools_nearest_to_the_users_words_are_said_again():
    session = Session(context_id="c", dialect=Dialect.TAU2, policy_text=POLICY, specs=SPECS)
    assert reminder_of(session) == ""
    session.entries.append(Entry(role="user", text="I want to cancel my order"))
    reminder = reminder_of(session)
    assert "cancelled only while they are pending" in reminder
    assert "opens at nine" not in reminder
    assert "cancel_order(order_id)" in reminder
    assert "get_weather" not in reminder


def test_hints_of_a_huge_policy_are_bounded():
    policy = "Refunds are made for order number one. " * 50_000
    assert len(relevant_sentences(policy, "refund my order please")) <= 5
    assert likely_tools(SPECS, "") == ()


def test_a_user_can_only_have_confirmed_what_the_agent_said_before():
    session = Session(context_id="c", dialect=Dialect.TAU2)
    session.entries += [Entry(role="agent", text="hi"), Entry(role="user", text="do it")]
    assert not may_be_confirmed(session)
    session.entries += [Entry(role="agent", text="sure?"), Entry(role="user", text="yes")]
    assert may_be_confirmed(session)


def test_what_has_no_reader_of_its_own_need_not_be_read():
    session = Session(
        context_id="c",
        dialect=Dialect.TAU2,
        specs=(spec("get_order", "order_id"), spec("find_user_by_email", "email")),
    )
    book = Notebook()
    assert unread({"email": "a@b.c", "item_ids": ["1"], "note": "x"}, session, book) == ""
    assert "'O-2' with get_order" in unread({"order_ids": ["O-2"]}, session, book)
    book.read.add(("order_id", "O-2"))
    assert unread({"order_ids": ["O-2"]}, session, book) == ""


def test_the_check_of_a_change_is_bounded_whatever_was_said():
    session = Session(context_id="c", dialect=Dialect.TAU2, policy_text="Be kind. " * 100_000)
    for number in range(100):
        session.entries += [
            Entry(role="user", text="u" * 50_000),
            Entry(role="result", call=call(number), result=ToolResult(text="r" * 50_000)),
        ]
    asked = question(session, "cancel", {"text": "a" * 50_000})
    assert len(json.dumps(asked)) < 75_000
