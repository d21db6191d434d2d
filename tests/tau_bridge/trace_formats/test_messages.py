"""Logs of messages: who spoke to whom, and all that such a log does not tell."""

import pytest

from evals.trace import CALLER_KIND, OUTCOME_UNKNOWN, USER

from .steps import agent_calls, tool_calls

TALK = [
    {"role": "user", "content": "Plan a trip."},
    {"role": "assistant", "name": "planner", "content": "Day one: museum."},
    {"role": "assistant", "name": "critic", "content": "Too short."},
    {"role": "assistant", "name": "planner", "content": "Two days."},
]
CALLS = [("user", "planner"), ("planner", "critic"), ("critic", "planner")]


@pytest.mark.parametrize(
    "content",
    [TALK, [TALK], [{"messages": TALK}], [{"history": TALK}], [{"chat_history": TALK}]],
    ids=["lines", "list", "messages", "history", "chat_history"],
)
def test_a_message_goes_to_the_next_speaker(entries, content):
    [entry] = entries(content)
    assert entry.format == "messages"
    assert agent_calls(entry) == CALLS
    first, second, _ = entry.trace.steps
    assert first.additional_attributes[CALLER_KIND] == USER
    assert second.request_text == "Day one: museum."
    assert "1 x message after which nobody else speaks: to the user, no step" in entry.problems


def test_times_errors_and_tokens_are_unknown(entries):
    [entry] = entries([TALK])
    for step in entry.trace.steps:
        assert (step.start_time, step.latency_ms, step.total_tokens) == (None, None, None)
        assert step.additional_attributes[OUTCOME_UNKNOWN] == "true"


def test_each_line_with_messages_is_a_trace_with_what_stands_beside_it(entries):
    one = {"id": "one", "messages": TALK, "roster": ["planner", "idle"], "answer": "a"}
    first, second = entries([one, {"messages": TALK, "expected": "b"}])
    assert (first.id, first.roster, first.answer) == ("one", ("planner", "idle"), "a")
    assert (second.id, second.expected) == ("line-2", "b")


def test_a_receiver_that_is_named_in_the_speaker_or_beside_it_gets_the_message(entries):
    [entry] = entries([{"history": [
        {"role": "human", "content": "Who leads it?"},
        {"role": "Orchestrator (thought)", "content": "Ask the web."},
        {"role": "Orchestrator (-> Surfer)", "content": "Search it."},
        {"role": "Surfer", "content": "It is Ann."},
        {"role": "Orchestrator", "recipient": "Coder", "content": "Write it."},
        {"role": "Surfer", "content": "Bye."},
        {"role": "Orchestrator (termination condition)", "content": "Over."},
    ]}])  # fmt: skip
    assert agent_calls(entry) == [
        ("user", "Orchestrator"), ("Orchestrator", "Surfer"), ("Surfer", "Orchestrator"),
        ("Orchestrator", "Coder"),
    ]  # fmt: skip
    assert "2 x note of a speaker to itself: no step" in entry.problems


def test_several_messages_of_one_speaker_go_to_the_next_other_one(entries):
    talk = [{"name": n, "content": f"{i}"} for i, n in enumerate(["a", "a", "b", "c"])]
    [entry] = entries([talk])
    assert agent_calls(entry) == [("a", "b"), ("a", "b"), ("b", "c")]


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "function": {"name": "track", "arguments": '{"parcel": 7}'}},
        {"id": "c1", "function": "track", "arguments": {"parcel": 7}},
    ],
    ids=["openai", "inspect"],
)
def test_calls_of_tools_are_steps_with_their_results(entries, call):
    [entry] = entries([[
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "in transit"},
        {"role": "assistant", "content": "On its way."},
    ]])  # fmt: skip
    [step] = [step for step in entry.trace.steps if step.callee == "track"]
    assert tool_calls(entry) == [("assistant", "track")]
    assert (step.request_text, step.response_text) == ('{"parcel": 7}', "in transit")


def test_messages_of_autogen_have_sources_tokens_and_times(entries):
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    when = "2026-01-01T00:00:00Z"
    [entry] = entries([[
        {"source": "user", "type": "TextMessage", "content": "Go", "created_at": when},
        {"source": "planner", "type": "ToolCallRequestEvent",
         "content": [{"id": "c", "name": "track", "arguments": "{}"}]},
        {"source": "planner", "type": "ToolCallExecutionEvent",
         "content": [{"call_id": "c", "content": "in transit"}]},
        {"source": "planner", "type": "TextMessage", "content": "Done", "models_usage": usage},
        {"source": "critic", "type": "TextMessage", "content": "Good"},
    ]])  # fmt: skip
    assert agent_calls(entry) == [("user", "planner"), ("planner", "critic")]
    assert tool_calls(entry) == [("planner", "track")]
    steps = {step.callee: step for step in entry.trace.steps}
    assert steps["track"].response_text == "in transit"
    assert steps["critic"].total_tokens == 7
    assert steps["planner"].start_time.isoformat() == "2026-01-01T00:00:00+00:00"


def test_a_call_without_a_name_is_left_out_and_counted(entries):
    [entry] = entries([[
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "So.", "tool_calls": [{"id": "c1", "arguments": {}}]},
    ]])  # fmt: skip
    assert tool_calls(entry) == []
    assert "1 x call of a tool without a name: left out" in entry.problems


def test_what_is_no_message_is_left_out_and_counted(entries):
    [entry] = entries([[*TALK, 7, {"content": "by nobody"}, {"role": "a"}]])
    assert agent_calls(entry) == CALLS
    assert "3 x entry that is no message: left out" in entry.problems


def test_instructions_are_no_step(entries):
    [entry] = entries([[{"role": "system", "content": "Be kind."}, *TALK]])
    assert agent_calls(entry) == CALLS
    assert "1 x message with instructions: no step" in entry.problems


def test_a_file_that_holds_no_messages_is_told_where_they_are_forced(entries):
    [entry] = entries(['{"steps": []}'][0], format_="messages")
    assert entry.error.startswith("line 1: $: expected messages with 'content' and 'role'")


def test_a_message_of_a2a_is_still_none_of_a_log(entries):
    [entry] = entries([{"role": "agent", "parts": [{"kind": "text", "text": "hi"}]}])
    assert entry.format == "trace"
    assert "expected a trace" in entry.error
