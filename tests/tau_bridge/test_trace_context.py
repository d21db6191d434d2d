import re

from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.trace_context import traceparent, wire_span_id, wire_trace_id


def test_identifiers_follow_from_ours_alone() -> None:
    assert wire_trace_id("t") == wire_trace_id("t") != wire_trace_id("u")
    assert wire_span_id("t", "1") == wire_span_id("t", "1")
    spans = {
        wire_span_id("t"),
        wire_span_id("t", "1"),
        wire_span_id("t", "2"),
        wire_span_id("u", "1"),
    }
    assert len(spans) == 4


@given(st.text(), st.text())
def test_the_header_has_the_form_that_the_w3c_asks_for(trace_id: str, step_id: str) -> None:
    found = re.fullmatch(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01", traceparent(trace_id, step_id))
    assert found is not None
    assert found.groups() == (wire_trace_id(trace_id), wire_span_id(trace_id, step_id))
