from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from evals.trace import CallType, InteractionStep, Provenance, Trace

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def step(**changes):
    fields = {
        "step_id": "s1",
        "trace_id": "t1",
        "call_type": CallType.AGENT,
        "caller": "green",
        "callee": "purple",
        "start_time": START,
        "end_time": START + timedelta(milliseconds=5),
        "latency_ms": 5.0,
    }
    return InteractionStep(**{**fields, **changes})


@pytest.mark.requirement("a2a:step")
def test_a_trace_survives_the_way_through_json():
    failed = step(step_id="s2", parent_step_id="s1", error="refused", latency_ms=None)
    tool = step(
        step_id="s3",
        call_type=CallType.TOOL,
        name="search",
        cost=0.1,
        total_tokens=7,
        provenance=Provenance.REPORTED,
        request_text="where?",
        response_text="there",
        additional_attributes={"a": "b"},
    )
    trace = Trace(trace_id="t1", steps=(step(), failed, tool))
    assert Trace.from_json(trace.to_json()) == trace


@given(st.text(), st.text(), st.floats(min_value=0, max_value=1e9))
def test_any_text_survives_the_way_through_json(request_text, error, latency_ms):
    trace = Trace(
        trace_id="t1",
        steps=(step(request_text=request_text, error=error, latency_ms=latency_ms),),
    )
    assert Trace.from_json(trace.to_json()) == trace


def test_a_step_of_another_trace_is_refused():
    with pytest.raises(ValidationError, match="is of trace 't1', not 't2'"):
        Trace(trace_id="t2", steps=(step(),))


def test_a_time_without_a_zone_is_refused():
    with pytest.raises(ValidationError, match="timezone"):
        step(start_time=datetime(2026, 1, 1))  # noqa: DTZ001


def test_a_negative_latency_is_refused():
    with pytest.raises(ValidationError, match="latency_ms"):
        step(latency_ms=-1.0)


@pytest.mark.requirement("a2a:call-type")
def test_the_steps_of_one_call_type_keep_their_order():
    first, tool, second = step(), step(step_id="s2", call_type="TOOL"), step(step_id="s3")
    trace = Trace(trace_id="t1", steps=(first, tool, second))
    assert trace.of_type(CallType.AGENT) == (first, second)
    assert trace.of_type(CallType.HOST) == ()
