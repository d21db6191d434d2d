"""Reports of participants as steps of our own data model."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.trace import CALLER_KIND, USER, CallType, Provenance, Trace
from tau_bridge.a2a.traceability import ReportError, ReportLimits, read_response_trace
from tests.tau_bridge.a2a.traceability.reports import NOON, agent, only, read


@pytest.mark.requirement("a2a:step")
def test_a_step_of_the_specification_becomes_a_reported_step():
    step = only(
        {
            "step_id": "s1",
            "trace_id": "t",
            "call_type": "AGENT",
            "step_action": {
                "agent_invocation": {
                    "agent_url": "http://127.0.0.1:9011/",
                    "agent_name": "orders",
                    "requests": {"text": "order 17?"},
                }
            },
            "cost": 2,
            "total_tokens": "75",
            "latency": "250",
            "start_time": "2026-01-01T12:00:00.123456789Z",
            "end_time": {"seconds": "1767268801", "nanos": 5000},
            "additional_attributes": {"caller": "lead", "response": "shipped", "error": "late"},
        }
    )
    assert (step.caller, step.callee, step.call_type) == ("lead", "orders", CallType.AGENT)
    assert (step.request_text, step.response_text, step.error) == ("order 17?", "shipped", "late")
    assert (step.cost, step.total_tokens, step.latency_ms) == (2, 75, 250)
    assert step.start_time == NOON + timedelta(microseconds=123456)
    assert step.end_time == NOON + timedelta(seconds=1, microseconds=5)
    assert step.provenance is Provenance.REPORTED
    assert step.additional_attributes == {"agent_url": "http://127.0.0.1:9011/"}


def test_a_step_of_the_flat_dialect_says_the_same_in_its_own_fields():
    step = only(
        {
            "step_id": "s1",
            "parent_step_id": None,
            "call_type": "TOOL",
            "name": "order_table",
            "parameters": {"b": 1.0, "a": "x"},
            "requests": None,
            "step_type": "lookup",
            "error": "Traceback ...",
            "latency": 12,
            "start_time": "2026-01-01T12:00:00",
        }
    )
    assert (step.caller, step.callee, step.name) == ("lead", "order_table", "order_table")
    assert step.request_text == '{"a":"x","b":1}'
    assert (step.error, step.latency_ms, step.start_time) == ("Traceback ...", 12, NOON)
    assert step.additional_attributes == {"step_type": "lookup"}


def test_names_in_camel_case_are_read_too():
    step = only(
        {
            "stepId": "s1",
            "callType": "CALL_TYPE_AGENT",
            "stepAction": {"agentInvocation": {"agentName": "b", "requests": "hi"}},
            "totalTokens": "3",
            "startTime": "2026-01-01T13:00:00+01:00",
            "additionalAttributes": {"caller": "a"},
        }
    )
    assert (step.caller, step.callee, step.request_text) == ("a", "b", "hi")
    assert (step.total_tokens, step.start_time) == (3, NOON)


def test_the_caller_is_told_or_the_callee_of_the_parent_or_the_reporter():
    told, below, root, under_tool = read(
        agent("b", id="1", additional_attributes={"caller": "a"}),
        agent("c", id="2", parent_step_id="1"),
        {"step_id": "3", "call_type": "TOOL", "name": "ask"},
        agent("d", id="4", parent_step_id="3"),
    ).steps
    assert [step.caller for step in (told, below, root, under_tool)] == ["a", "b", "lead", "lead"]


def test_a_root_step_of_a_file_by_itself_was_opened_by_the_user():
    outer, inner = read(agent("a"), agent("b", parent_step_id="a"), reporter=None).steps
    assert (outer.caller, outer.from_outside) == (USER, True)
    assert (inner.caller, inner.from_outside) == ("a", False)


def test_a_reporters_step_for_its_own_work_was_opened_from_outside():
    own, inner = read(agent("lead"), agent("b", parent_step_id="lead")).steps
    assert (own.from_outside, inner.caller, inner.from_outside) == (True, "lead", False)


def test_caller_kind_passes_through():
    step = only(agent("a", additional_attributes={CALLER_KIND: USER, "caller": "u"}))
    assert (step.caller, step.from_outside) == ("u", True)


def test_nested_traces_are_flattened_below_the_step_that_holds_them():
    inner = {"trace_id": "other", "steps": [agent("c", id="1"), agent("d", id="2")]}
    report = read(agent("b", id="1", action={"response_trace": inner}))
    assert [(s.step_id, s.parent_step_id, s.caller) for s in report.steps] == [
        ("1", None, "lead"),
        ("1#2", "1", "b"),
        ("2", "1", "b"),
    ]
    assert {s.trace_id for s in report.steps} == {"t"}


def test_parents_within_a_nested_trace_are_those_of_that_trace():
    inner = {"steps": [agent("c", id="1"), agent("d", id="2", parent_step_id="1")]}
    report = read(agent("b", id="1", action={"response_trace": inner}))
    assert [s.caller for s in report.steps] == ["lead", "b", "c"]


def test_steps_told_nested_and_in_the_list_are_taken_once():
    below = agent("c", id="2", parent_step_id="1")
    last = agent("d", id="3", parent_step_id="2")
    inner = {"steps": [below]}
    report = read(agent("b", id="1", action={"response_trace": inner}), below, last)
    assert [(s.step_id, s.parent_step_id) for s in report.steps] == [
        ("1", None), ("2", "1"), ("3", "2"),
    ]  # fmt: skip
    assert report.problems == ("1 x step sent twice: taken once",)


def test_too_deep_a_nesting_is_cut_and_told():
    steps = [agent("z")]
    for level in range(2000):
        steps = [agent(f"a{level}", action={"response_trace": {"steps": steps}})]
    report = read(*steps)
    assert len(report.steps) == 6
    assert report.problems == ("1 x trace nested deeper than 6 levels: left out",)


def test_what_is_beyond_the_limits_is_cut_and_told():
    limits = ReportLimits(max_steps=2, max_text_chars=8, max_attributes=1)
    attributes = {"b": "2", "a": {"x": 1}, "caller": "c" * 1000}
    report = read(
        agent("b", action={"requests": "123456___78"}, additional_attributes=attributes),
        *(agent(str(number)) for number in range(3)),
        limits=limits,
    )
    first = report.steps[0]
    assert len(report.steps) == 2
    assert first.request_text == "123456 [... 3 characters left out ...] 78"
    assert first.additional_attributes == {"a": '{"x":1}', "request_chars": "11"}
    assert len(first.caller) < 600
    assert report.problems == (
        "1 x attribute beyond 1 of a step: left out",
        "2 x step beyond the limit of 2: left out",
    )


def test_what_is_wrong_is_told_with_counts_and_the_rest_is_kept():
    report = read(
        agent("b", id="1", latency=-1, cost="dear", total_tokens=1.5, parent_step_id="gone"),
        agent("c", id="1", start_time="2026-01-01T12:00:01", end_time="2026-01-01T12:00:00"),
        {"call_type": "AGENT", "name": "\ud800", "start_time": "soon"},
        17,
    )
    assert [s.step_id for s in report.steps] == ["1", "1#2", "step#2"]
    assert report.problems == (
        "1 x cost that is no number from 0: not used",
        "1 x entry that is no step: left out",
        "1 x id of two steps: the later one given another",
        "1 x latency that is no number from 0: not used",
        "1 x number of tokens that is no whole number: not used",
        "1 x parent that does not exist in the report",
        "1 x start time that is no time: not used",
        "1 x step that ends before it begins",
        "1 x step without an id: given one",
        "1 x text with half a character (a lone surrogate): replaced",
    )
    report.as_trace().to_json()


def test_circles_of_parents_end():
    report = read(
        {"step_id": "1", "call_type": "TOOL", "name": "x", "parent_step_id": "2"},
        {"step_id": "2", "call_type": "TOOL", "name": "y", "parent_step_id": "1"},
        agent("c", id="3", parent_step_id="3"),
    )
    assert {s.caller for s in report.steps} == {"lead"}


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (None, "$: a trace is an object"),
        ([], "$: a trace is an object"),
        ({"foo": 1}, "an object with 'foo'"),
        ({"steps": "none"}, "$.steps: must be a list"),
        ({"steps": [{"step_id": "1"}, 5]}, "$.steps[0]: a step says what was called"),
        ({"steps": [5]}, "$.steps[0]: a step is an object, not 5"),
    ],
)
def test_what_is_no_trace_at_all_is_refused_with_its_path(value, where):
    with pytest.raises(ReportError) as refused:
        read_response_trace(value, reporter="lead")
    assert where in str(refused.value)


def test_an_empty_trace_is_one():
    assert read().steps == ()
    assert read_response_trace({"traceId": "x"}, reporter=None).trace_id == "x"


def test_known_addresses_become_names_and_are_not_kept():
    secret = "http://127.0.0.1:1234/p/token/orders/"
    report = read(
        agent(None, id="1", error=f"no answer from {secret}x", action={"agent_url": secret[:-1]}),
        agent(None, id="2", action={"agent_url": "http://u:p@Other:1/a/?key=1"}),
        aliases={secret: "orders"},
    )
    known, unknown = report.steps
    assert (known.callee, known.additional_attributes) == ("orders", {})
    assert known.error == "no answer from orders/x"
    assert unknown.callee == "http://Other:1/a"
    assert "token" not in report.as_trace().to_json()
    assert "key" not in report.as_trace().to_json()


def test_marks_of_an_assessor_are_believed_in_a_file_alone():
    marked = agent("b", additional_attributes={"contradiction": "x", "provenance": "observed"})
    assert only(marked).additional_attributes == {}
    assert only(marked).provenance is Provenance.REPORTED
    assert only(marked, reporter=None).provenance is Provenance.OBSERVED
    assert only(marked, reporter=None).additional_attributes["contradiction"] == "x"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["steps", "step_id", "parent_step_id", "call_type", "name", "step_action", "requests",
             "agent_invocation", "response_trace", "agent_url", "start_time", "end_time", "latency",
             "cost", "total_tokens", "additional_attributes", "caller", "error", "seconds", "text"]
        ),
        inner,
        max_size=6,
    ),
    max_leaves=40,
)  # fmt: skip


@given(st.lists(JSON, max_size=6), st.none() | st.just("lead"))
def test_nothing_but_a_report_error_is_ever_raised(steps, reporter):
    try:
        report = read_response_trace({"steps": steps}, reporter=reporter)
    except ReportError:
        return
    trace = report.as_trace()
    assert Trace.from_json(trace.to_json()) == trace
    assert len({step.step_id for step in trace.steps}) == len(trace.steps)


def test_a_trace_may_mix_both_dialects():
    asked = {"text": "where?"}
    steps = [
        {"step_id": "1", "call_type": "AGENT", "start_time": "2026-01-01T00:00:00Z",
         "step_action": {"agent_invocation": {"agent_name": "b", "requests": asked}}},
        {"step_id": "2", "call_type": "TOOL", "parent_step_id": "1", "latency": "250",
         "step_action": {"tool_invocation": {"tool_name": "look_up", "parameters": {"id": 7}}},
         "additional_attributes": {"response": "there", "other": "kept"}},
        {"step_id": "3", "call_type": "AGENT", "name": "c", "requests": asked, "parameters": {},
         "step_type": "AGENT", "error": None},
    ]  # fmt: skip
    read_steps = read_response_trace({"trace_id": "t", "steps": steps}, reporter=None).steps
    assert [step.caller for step in read_steps] == ["user", "b", "user"]
    assert [step.callee for step in read_steps] == ["b", "look_up", "c"]
    assert [step.request_text for step in read_steps] == ["where?", '{"id":7}', "where?"]
    assert read_steps[1].additional_attributes == {"other": "kept"}
