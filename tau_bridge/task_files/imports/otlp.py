"""OpenTelemetry spans as traces: OTLP's JSON, by the conventions for generative AI.

Read are the attributes that OpenTelemetry, OpenInference and ADK give to spans of agents, tools and
models; other spans only tell what is inside of what.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from evals.trace import CallType, InteractionStep, Trace
from tau_bridge.completion import COMPLETION
from tau_bridge.errors import DataError
from tau_bridge.recordings import Conversation, Recordings, Verdict
from tau_bridge.task_files.documents import Document
from tau_bridge.task_files.imports.traces import conversation_of

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ERROR: Final = (2, "STATUS_CODE_ERROR")
_PASSED: Final = frozenset(["passed", "pass", "correct", "true", "yes", "success"])
_OPERATIONS: Final[Mapping[str, CallType]] = {
    "invoke_agent": CallType.AGENT,
    "execute_tool": CallType.TOOL,
    "chat": CallType.TOOL,
    "text_completion": CallType.TOOL,
    "generate_content": CallType.TOOL,
}
_KINDS: Final[Mapping[str, CallType]] = {
    "AGENT": CallType.AGENT,
    "TOOL": CallType.TOOL,
    "LLM": CallType.TOOL,
}
_MODELS: Final = frozenset(["chat", "text_completion", "generate_content", "LLM"])
_REQUESTS: Final = ("input.value", "gen_ai.input.messages")
_RESPONSES: Final = ("output.value", "gen_ai.output.messages")
_ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments", "gcp.vertex.agent.tool_call_args", "tool.parameters",
    "input.value",
)  # fmt: skip
_RESULTS: Final = (
    "gen_ai.tool.call.result", "gcp.vertex.agent.tool_response", "output.value",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Span:
    trace_id: str
    span_id: str
    parent: str | None
    name: str
    start: int
    attributes: Mapping[str, Any]
    error: str | None
    events: Sequence[tuple[str, Mapping[str, Any]]]

    @property
    def operation(self) -> str:
        found = self.attributes.get("gen_ai.operation.name")
        return str(found or self.attributes.get("openinference.span.kind") or "")


def read_otlp(document: Document) -> Recordings:
    """Return a conversation for each trace in a file of spans, and notes on those without one.

    Raises:
        DataError: It holds no spans, or one cannot be read.
    """
    bodies = document.value if isinstance(document.value, list) else [document.value]
    by_trace: dict[str, list[_Span]] = {}
    for number, body in enumerate(bodies):
        where = f"{document.path.name}, line {document.line_of([number])}"
        for span in _spans(body, where):
            by_trace.setdefault(span.trace_id, []).append(span)
    if not by_trace:
        raise DataError(f"{document.path.name}: has no spans below 'resourceSpans'")
    found: list[Conversation] = []
    notes: list[str] = []
    for trace_id, spans in by_trace.items():
        spans.sort(key=lambda span: span.start)
        made = _conversation(trace_id, spans)
        if made is None:
            notes.append(f"trace {trace_id} is left out: no span says what the user wrote")
        else:
            found.append(made)
    return found, notes


def _conversation(trace_id: str, spans: Sequence[_Span]) -> Conversation | None:
    steps = [step for span in spans for step in _step(span)]
    verdict, why = _verdict(spans)
    task = _first(spans, "greenroom.task.id")
    agent = _first(spans, "greenroom.participant")
    return conversation_of(
        Trace(trace_id=trace_id, steps=tuple(steps)),
        name=f"{agent} on {task}" if agent and task else f"trace {trace_id}",
        task=task or trace_id,
        verdict=verdict,
        why=why,
    )


def _first(spans: Sequence[_Span], key: str) -> str | None:
    return next((str(s.attributes[key]) for s in spans if s.attributes.get(key)), None)


def _verdict(spans: Sequence[_Span]) -> tuple[Verdict, str | None]:
    """Tell how it went: by the evaluation that a span carries, else by errors."""
    for span in spans:
        for name, attributes in span.events:
            if name == "gen_ai.evaluation.result":
                why = attributes.get("gen_ai.evaluation.explanation")
                return _evaluated(attributes), None if why is None else str(why)
    broken = next((span for span in spans if span.error is not None), None)
    return ("unknown", None) if broken is None else ("wrong", f"{broken.name}: {broken.error}")


def _evaluated(attributes: Mapping[str, Any]) -> Verdict:
    value = attributes.get("gen_ai.evaluation.score.value")
    if isinstance(value, int | float):
        return "right" if value >= 1 else "wrong"
    label = str(attributes.get("gen_ai.evaluation.score.label", "")).lower()
    if label in ("", "unscored", "failed"):  # in the last two nothing was measured
        return "unknown"
    return "right" if label in _PASSED else "wrong"


# -- spans -----------------------------------------------------------------------------------------


def _spans(body: Any, where: str) -> Iterator[_Span]:
    try:
        for resource in body.get("resourceSpans", ()):
            for scope in resource.get("scopeSpans", ()):
                yield from (_span(each) for each in scope.get("spans", ()))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{where}: a span cannot be read: {type(error).__name__}: {error}"
        ) from error


def _span(given: Mapping[str, Any]) -> _Span:
    status = given.get("status") or {}
    failed = status.get("code") in _ERROR
    return _Span(
        trace_id=str(given["traceId"]),
        span_id=str(given["spanId"]),
        parent=given.get("parentSpanId") or None,
        name=str(given.get("name", "")),
        start=int(given["startTimeUnixNano"]),
        attributes=_attributes(given.get("attributes")),
        error=str(status.get("message") or "error") if failed else None,
        events=[
            (str(event.get("name", "")), _attributes(event.get("attributes")))
            for event in given.get("events") or ()
        ],
    )


def _attributes(given: Any) -> dict[str, Any]:
    return {str(each["key"]): _value(each.get("value") or {}) for each in given or ()}


def _value(given: Mapping[str, Any]) -> Any:
    if "intValue" in given:
        return int(given["intValue"])
    if "arrayValue" in given:
        return [_value(each) for each in given["arrayValue"].get("values", ())]
    if "kvlistValue" in given:
        return _attributes(given["kvlistValue"].get("values"))
    return next(iter(given.values()), None)


def _step(span: _Span) -> Iterator[InteractionStep]:
    operation = span.operation
    call_type = _OPERATIONS.get(operation) or _KINDS.get(operation.upper(), CallType.HOST)
    is_model = operation in _MODELS or operation.upper() in _MODELS
    is_tool = call_type is CallType.TOOL and not is_model
    get = span.attributes.get
    callee = get("graph.node.id") or get("gen_ai.agent.name") or get("agent.name") or span.name
    tool = get("gen_ai.tool.name") or get("tool.name") or span.name.removeprefix("execute_tool ")
    yield InteractionStep(
        step_id=span.span_id,
        trace_id=span.trace_id,
        parent_step_id=span.parent,
        call_type=call_type,
        name=COMPLETION if is_model else str(tool) if is_tool else None,
        caller=str(get("graph.node.parent_id") or "unknown"),
        callee=str(tool if is_tool else callee),
        start_time=_EPOCH + timedelta(microseconds=span.start // 1000),
        error=span.error,
        request_text=_text(span, _ARGUMENTS if is_tool else _REQUESTS, role="user"),
        response_text=_text(span, _RESULTS if is_tool else _RESPONSES, role="assistant"),
    )


def _text(span: _Span, keys: Sequence[str], *, role: str) -> str | None:
    """Return the first attribute that there is; of a list of messages, the last of the role."""
    for key in keys:
        value = span.attributes.get(key)
        if value is None:
            continue
        if not key.endswith(".messages"):
            return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        text = _said(value, role)
        if text:
            return text
    return None


def _said(value: Any, role: str) -> str | None:
    try:
        messages = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") in (role, None):
            parts = message.get("parts") or ()
            texts = [p.get("content") for p in parts if isinstance(p, dict)]
            found = "\n".join(text for text in texts if isinstance(text, str))
            if found:
                return found
    return None
