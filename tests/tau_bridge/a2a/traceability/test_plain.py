"""Traces that are read all steps at once become the same as those that are read with care."""

import json
from unittest.mock import patch

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tau_bridge.a2a.traceability import FILE_LIMITS, ReportError, ReportLimits, read_response_trace
from tau_bridge.a2a.traceability.plain import plain_steps

NAMES = st.sampled_from(["a", "b", "é", "", "n" * 501, "\ud800", "http://u:p@h/x?k=1", None, 7])
TEXTS = st.sampled_from(["", "t", "t" * 9000, "\udc00", "[1]", "5", None, 5, ["x"], {}])
TIMES = st.sampled_from(
    (
        *("2026-01-01T00:00:01Z", "2026-01-01T00:00:00.25+02:00", "2026-01-01", "2026-W01-1"),
        *("20260101", "12.e-5", " 2026-01-01T00:00:01Z", "soon", "", None),
        *(1767225600, {"seconds": 1}, True),
    )
)
AMOUNTS = st.sampled_from([0, 1.5, "2.5", "nan", "1_0", -1, True, "x", "", None, 10**400])
KINDS = st.sampled_from(["AGENT", "TOOL", "HOST", "agent", "", "ROBOT", 1, None])
ASKED = st.sampled_from(
    (
        *("ask", "", {}, [], 0, False, {"text": "ask"}, {"text": 5}, {"b": 1.0, "a": [2.5]}),
        *({"parts": [{"text": "x"}, {"data": 1}]}, {"message": {"text": "x"}}, None),
    )
)
IDS = st.sampled_from(["1", "2", "3", "4", "", 1, None, "i" * 501])
AGENT = {"agent_name": NAMES, "agent_url": NAMES, "requests": ASKED}
TOOL = {"tool_name": NAMES, "parameters": ASKED}
CALLED = {**AGENT, **TOOL, "name": NAMES}
ATTRIBUTES = {
    **dict.fromkeys(("caller", "callee", "operation", "agent_url", "other"), NAMES),
    **dict.fromkeys(("request", "response", "error", "step_type"), TEXTS),
    **dict.fromkeys(("latency_ms", "cost_usd"), AMOUNTS),
    "call_type": KINDS,
    "provenance": st.sampled_from(["observed", "reported", 5]),
}
COMMON = {
    **dict.fromkeys(("start_time", "end_time"), TIMES),
    **dict.fromkeys(("latency", "cost", "total_tokens"), AMOUNTS),
    **dict.fromkeys(("error", "step_type"), TEXTS),
    "parent_step_id": IDS,
}
ODD = {"callee": NAMES, "traceId": NAMES, "unknown": NAMES, "response_trace": ASKED, "step_id": IDS}


def some_of(fields, most):
    """Objects with at most so many of these fields: few are odd, so that many traces are plain."""
    names = st.lists(st.sampled_from(sorted(fields)), max_size=most, unique=True)
    return names.flatmap(lambda chosen: st.fixed_dictionaries({key: fields[key] for key in chosen}))


def action(kind, fields):
    return some_of(fields, 2).map(lambda invocation: {"step_action": {kind: invocation}})


CALLS = st.one_of(
    st.just({"step_action": {"agent_invocation": {"agent_name": "b"}}}),
    st.just({"step_action": {"tool_invocation": {"tool_name": "look_up"}}}),
    st.just({"name": "b"}),
    action("agent_invocation", AGENT),
    action("tool_invocation", TOOL),
    action("tool_invocation", CALLED),
    some_of(CALLED, 3),
)
STEPS = st.lists(
    st.tuples(
        *(st.sampled_from(["AGENT", "TOOL"]) | KINDS, CALLS, some_of(COMMON, 2)),
        *(some_of(ATTRIBUTES, 2), st.just({}) | some_of(ODD, 1)),
    ),
    max_size=4,
).map(
    lambda parts: [
        {"step_id": str(at), "call_type": kind, "additional_attributes": attributes}
        | call | common | odd
        for at, (kind, call, common, attributes, odd) in enumerate(parts, start=1)
    ]
)  # fmt: skip


def read(value, limits):
    """All that is read, as it is written, or the error."""
    try:
        found = read_response_trace(value, reporter=None, limits=limits)
    except ReportError as exc:
        return str(exc)
    steps = [step.model_dump_json() for step in found.steps]
    return found, steps, [step.model_dump() for step in found.steps]


LIMITS = st.sampled_from(
    [FILE_LIMITS, ReportLimits(max_steps=2, max_text_chars=2, max_name_chars=2, max_attributes=1)]
)


@settings(max_examples=120)
@given(STEPS, LIMITS)
@example(
    [{"step_id": "1", "call_type": "TOOL", "name": "b", "parameters": None, "requests": {}}],
    FILE_LIMITS,
)
def test_whether_a_trace_needs_care_changes_nothing(steps, limits):
    value = {"trace_id": "t", "steps": steps}
    before = json.dumps(value)
    quick = read(value, limits)
    with patch("tau_bridge.a2a.traceability.reading.plain_steps", return_value=None):
        assert quick == read(value, limits)
    assert json.dumps(value) == before


def test_what_either_dialect_gives_is_read_at_once():
    asked = {"text": "where?"}
    attributes = {"response": "there", "other": "kept"}
    steps = [
        {"step_id": "1", "call_type": "AGENT", "start_time": "2026-01-01T00:00:00Z",
         "step_action": {"agent_invocation": {"agent_name": "b", "requests": asked}}},
        {"step_id": "2", "call_type": "TOOL", "parent_step_id": "1", "latency": "250",
         "step_action": {"tool_invocation": {"tool_name": "look_up", "parameters": {"id": 7}}},
         "additional_attributes": attributes},
        {"step_id": "3", "call_type": "AGENT", "name": "c", "requests": asked, "parameters": {},
         "step_type": "AGENT", "error": None},
    ]  # fmt: skip
    trace_id, read_steps = plain_steps({"trace_id": "t", "steps": steps}, FILE_LIMITS)
    assert trace_id == "t"
    assert [step.caller for step in read_steps] == ["user", "b", "user"]
    assert [step.callee for step in read_steps] == ["b", "look_up", "c"]
    assert [step.request_text for step in read_steps] == ["where?", '{"id":7}', "where?"]
    assert read_steps[1].additional_attributes == {"other": "kept"}
