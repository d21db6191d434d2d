"""write_response_trace: a trace in the dialect of the specification. Pure."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from evals.trace import CallType, InteractionStep, Provenance, Trace
from tau_bridge.a2a.traceability.fields import canonical_json
from tau_bridge.a2a.traceability.names import redact_urls
from tau_bridge.redaction import redact_url


def write_response_trace(trace: Trace) -> dict[str, Any]:
    """Write the trace as a ResponseTrace: one flat list of steps, linked by `parent_step_id`.

    What the specification has no field for (caller, error, texts, provenance, a call type HOST)
    goes into the additional attributes, where `read_response_trace` finds it again. Names,
    addresses, attributes and errors are written without the user names, passwords and queries of
    addresses; the texts that were exchanged are left as they are.
    """
    return {"trace_id": trace.trace_id, "steps": [_step(step) for step in trace.steps]}


def _step(step: InteractionStep) -> dict[str, Any]:
    attributes = {key: redact_urls(text) for key, text in _attributes(step).items()}
    texts = {"request": _odd_request(step), "response": step.response_text}
    attributes |= {key: text for key, text in texts.items() if text is not None}
    is_agent = step.call_type is CallType.AGENT
    written = {
        "step_id": step.step_id,
        "trace_id": step.trace_id,
        "parent_step_id": step.parent_step_id,
        "call_type": CallType.AGENT.value if is_agent else CallType.TOOL.value,
        "step_action": _agent_action(step) if is_agent else _tool_action(step),
        "total_tokens": step.total_tokens,
        "latency": None if step.latency_ms is None else round(step.latency_ms),
        "start_time": _time(step.start_time),
        "end_time": _time(step.end_time),
        "additional_attributes": dict(sorted(attributes.items())),
    }
    return {key: value for key, value in written.items() if value is not None}


def _attributes(step: InteractionStep) -> dict[str, str]:
    is_tool = step.call_type is CallType.TOOL
    odd = {
        "caller": step.caller,
        "error": step.error,
        "callee": step.callee if not _is_agent(step) and step.callee != step.name else None,
        "operation": step.name if not is_tool else "" if step.name is None else None,
        "call_type": step.call_type.value if step.call_type is CallType.HOST else None,
        "latency_ms": None if step.latency_ms is None else repr(step.latency_ms),
        "cost_usd": None if step.cost is None else repr(step.cost),
        "provenance": step.provenance.value if step.provenance is Provenance.OBSERVED else None,
    }
    kept = {key: text for key, text in step.additional_attributes.items() if key != "agent_url"}
    return {**kept, **{key: text for key, text in odd.items() if text is not None}}


def _is_agent(step: InteractionStep) -> bool:
    return step.call_type is CallType.AGENT


def _agent_action(step: InteractionStep) -> dict[str, Any]:
    url = step.additional_attributes.get("agent_url")
    invocation: dict[str, Any] = {"agent_name": redact_urls(step.callee)}
    if url is not None:
        invocation["agent_url"] = redact_url(url)
    if step.request_text is not None:
        invocation["requests"] = {"text": step.request_text}
    return {"agent_invocation": invocation}


def _tool_action(step: InteractionStep) -> dict[str, Any]:
    invocation: dict[str, Any] = {"tool_name": redact_urls(step.name or step.callee)}
    arguments = _arguments(step)
    if arguments is not None:
        invocation["parameters"] = arguments
    return {"tool_invocation": invocation}


def _arguments(step: InteractionStep) -> dict[str, Any] | None:
    """Return the arguments as an object, if the text is one in the form that reading gives back."""
    try:
        arguments = json.loads(step.request_text or "")
    except (ValueError, RecursionError):
        return None
    is_same = isinstance(arguments, dict) and canonical_json(arguments) == step.request_text
    return arguments if is_same else None


def _odd_request(step: InteractionStep) -> str | None:
    """Return the text of a request that is not written as arguments."""
    return None if _is_agent(step) or _arguments(step) is not None else step.request_text


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat().replace("+00:00", "Z")
