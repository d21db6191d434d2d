"""Traces written in the dialect of the specification."""

import json
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from evals.graph.interactions import Interactions
from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Provenance, Trace
from tau_bridge.a2a.traceability import read_response_trace, write_response_trace
from tests.tau_bridge.a2a.traceability.reports import NOON

NAMES = st.sampled_from(["lead", "orders", "policy", "math"])
STEPS = st.fixed_dictionaries(
    {
        "call_type": st.sampled_from(CallType),
        "caller": NAMES,
        "callee": NAMES,
        "name": st.none() | st.sampled_from(["look up", "orders"]),
        "error": st.none() | st.just("failed"),
        "provenance": st.sampled_from(Provenance),
        "request_text": st.none() | st.sampled_from(["hi", '{"a":1}', '{"text":"hi"}', "{}", ""]),
        "response_text": st.none() | st.text(max_size=5),
        "latency_ms": st.none() | st.floats(0, 1e6),
        "cost": st.none() | st.floats(0, 10),
        "additional_attributes": st.sampled_from([{}, {CALLER_KIND: USER}, {"k": "v"}]),
        "at": st.integers(0, 5),
        "parent": st.none() | st.integers(0, 20),
    }
)


def traced(drawn):
    steps = []
    for number, given_fields in enumerate(drawn):
        fields = dict(given_fields)
        at, parent = NOON + timedelta(seconds=fields.pop("at")), fields.pop("parent")
        steps.append(
            InteractionStep(
                step_id=str(number),
                trace_id="t",
                parent_step_id=str(parent % number) if parent is not None and number else None,
                start_time=at,
                end_time=at + timedelta(microseconds=number),
                **fields,
            )
        )
    return Trace(trace_id="t", steps=tuple(steps))


@given(st.lists(STEPS, max_size=12).map(traced))
def test_a_written_trace_reads_back_as_the_same_graph(trace):
    document = json.loads(json.dumps(write_response_trace(trace)))
    report = read_response_trace(document, reporter=None)
    before, after = Interactions.of(trace), Interactions.of(report.as_trace())
    assert after.steps == before.steps
    assert after.members == before.members
    same = {step.step_id: step for step in report.steps}
    for step in trace.steps:
        assert same[step.step_id].cost == step.cost
        assert same[step.step_id].latency_ms == step.latency_ms
        assert same[step.step_id].response_text == step.response_text


def test_no_secret_of_an_address_is_written():
    step = InteractionStep(
        step_id="1", trace_id="t", call_type=CallType.AGENT, caller="http://u:secret@a/",
        callee="http://b/?key=secret", error="GET https://u:secret@b/?t=secret failed",
        additional_attributes={"agent_url": "http://b/?key=secret#secret"},
    )  # fmt: skip
    written = json.dumps(write_response_trace(Trace(trace_id="t", steps=(step,))))
    assert "secret" not in written
