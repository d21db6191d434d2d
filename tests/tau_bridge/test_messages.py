"""Messages as records of the official format, and back."""

from tau_bridge.messages import (
    AssistantMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
    parse_messages,
    to_records,
)

CALL = ToolCall(id="c", name="look", arguments={"n": 1})
MESSAGES = (
    UserMessage(content="Hello"),
    AssistantMessage(tool_calls=(CALL,)),
    ToolMessage(id="c", content="42"),
)


def test_records_are_numbered_and_leave_out_what_is_not_there():
    records = to_records(MESSAGES)
    assert [each["turn_idx"] for each in records] == [0, 1, 2]
    assert [each["role"] for each in records] == ["user", "assistant", "tool"]
    assert "tool_calls" not in records[0]
    assert records[1]["tool_calls"][0]["arguments"] == {"n": 1}


def test_records_are_read_back_as_the_messages_that_they_were():
    assert parse_messages(to_records(MESSAGES)) == MESSAGES


def test_results_that_were_grouped_in_one_message_are_read_one_by_one():
    results = [{"role": "tool", "id": name, "content": name} for name in "ab"]
    grouped = parse_messages([{"role": "tool", "id": "x", "tool_messages": results}])
    assert [each.id for each in grouped] == ["a", "b"]
