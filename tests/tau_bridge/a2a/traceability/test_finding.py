"""Where in a reply, or in any A2A JSON, a ResponseTrace is found."""

import json

import pytest

from tau_bridge.a2a.extensions import TRACEABILITY_KEY, TRACEABILITY_URI
from tau_bridge.a2a.replies import Reply
from tau_bridge.a2a.traceability import find_response_traces
from tests.tau_bridge.a2a.traceability.reports import agent


def reply(text="", data=(), metadata=()):
    return Reply(
        text=text, data=data, context_id=None, task_id=None, state=None,
        metadata=metadata, source="message",
    )  # fmt: skip


TRACE = {"trace_id": "t", "steps": [agent("b")]}


@pytest.mark.parametrize(
    "carrier",
    [
        {"metadata": ({TRACEABILITY_KEY: TRACE},)},
        {"metadata": ({"x": 1}, {f"https://{TRACEABILITY_KEY}": json.dumps(TRACE)})},
        {"metadata": ({TRACEABILITY_URI: TRACE}, {TRACEABILITY_KEY: TRACE})},
        {"data": (TRACE,)},
        {"data": ({"response_trace": TRACE},)},
        {"text": json.dumps(TRACE)},
        {"text": f"Done.\n```json\n{json.dumps(TRACE, indent=2)}\n```\nBye {{x}}"},
    ],
)
def test_a_trace_is_found_wherever_a_reply_carries_it(carrier):
    assert find_response_traces(reply(**carrier)) == [TRACE]


@pytest.mark.parametrize(
    "text", ["", "steps {", '{"steps": 1}', "{\n" * 5000 + "steps", "[" * 9999]
)
def test_text_without_a_trace_has_none(text):
    assert find_response_traces(reply(text=text)) == []
