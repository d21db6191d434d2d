"""The second question before a change."""

import json

from purple_agent.case import Dialect, Entry, Session, ToolCall, ToolResult
from purple_agent.reasoners.model.verify import question


def call(number):
    return ToolCall(id=f"call-{number}", name="get_parcel", arguments={"n": number})


def test_the_check_of_a_change_is_bounded_whatever_was_said():
    session = Session(context_id="c", dialect=Dialect.TAU2, policy_text="Be kind. " * 100_000)
    for number in range(100):
        session.entries += [
            Entry(role="user", text="u" * 50_000),
            Entry(role="result", call=call(number), result=ToolResult(text="r" * 50_000)),
        ]
    asked = question(session, "cancel", {"text": "a" * 50_000})
    assert len(json.dumps(asked)) < 75_000
