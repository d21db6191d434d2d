"""Export requests as tests send them."""

from tau_bridge.otlp.decoding import RawSpan
from tau_bridge.trace_context import wire_span_id, wire_trace_id

TRACE = "trial"
START = 1_700_000_000_000_000_000


def span(span_id, name="orders", *, parent=None, trace=TRACE, kind="invoke_agent", **attributes):
    """A span of OTLP's JSON; ids of 16 digits follow from short texts."""
    key = "gen_ai.tool.name" if kind == "execute_tool" else "gen_ai.agent.name"
    given = {"gen_ai.operation.name": kind, key: name, **attributes}
    return {
        "traceId": wire_trace_id(trace),
        "spanId": wire_span_id("agent", span_id),
        **({} if parent is None else {"parentSpanId": parent}),
        "name": name,
        "startTimeUnixNano": str(START),
        "endTimeUnixNano": str(START + 1_000_000),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in given.items()],
    }


def below(span_id):
    """The parent of a span below another one of the agent's."""
    return wire_span_id("agent", span_id)


def request(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def raw(given, size=100):
    return RawSpan(trace_id=given["traceId"], span_id=given["spanId"], value=given, size=size)
