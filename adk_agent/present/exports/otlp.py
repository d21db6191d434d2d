"""OTLP: the trials' traces as OpenTelemetry spans, one line of JSON for each trial.

The lines are what the collector's file receiver reads, and each is a body that an OTLP endpoint
takes. Attributes follow OpenTelemetry's conventions for generative AI, and OpenInference's for the
kind of a span and for the graph of agents.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from adk_agent.present.exports.output import Export, Output
from adk_agent.present.exports.played import PlayedRun
from adk_agent.present.exports.span_attributes import (
    evaluation_attributes,
    step_attributes,
    step_name,
)
from adk_agent.runs.store import TrialRecord
from evals.trace import ASSESSOR, CallType, InteractionStep, Provenance
from tau_bridge.trace_context import wire_span_id, wire_trace_id

FILE = "otlp-traces.jsonl"
SCOPE = "greenroom"
_INTERNAL, _CLIENT = 1, 3
_ERROR = 2
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)

Times = tuple[datetime, datetime]
"""Begin and end."""


def to_otlp(run: PlayedRun) -> Export:
    """Export the spans of every trial that ended, below one span for the trial.

    Trace and span ids are those that went over the wire as `traceparent`.
    """
    return Export(outputs=(Output(name=FILE, chunks=_lines(run)),))


def _lines(run: PlayedRun) -> Iterator[str]:
    version = run.report.versions.get("greenroom", "")
    resource = {
        "service.name": SCOPE,
        "service.version": version,
        "greenroom.run.id": run.report.run_id,
    }
    for record in run.records():
        spans = spans_of(record, fallback=run.report.created_at)
        scope = {"scope": {"name": SCOPE, "version": version}, "spans": spans}
        body = {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}
        yield json.dumps({"resourceSpans": [body]}, ensure_ascii=False) + "\n"


def spans_of(record: TrialRecord, *, fallback: datetime) -> list[dict[str, Any]]:
    """Return a trial's spans in OTLP's JSON: the trial's own first, then one for each step.

    Args:
        record: The trial.
        fallback: When it began, should no step say so.
    """
    steps = record.trace.steps
    whole = _whole(steps, fallback)
    times: dict[str, Times] = {}
    known = {step.step_id: step for step in steps}
    return [
        _trial_span(record, whole),
        *(_step_span(step, known, _times(step, known, times, whole)) for step in steps),
    ]


def _whole(steps: Sequence[InteractionStep], fallback: datetime) -> Times:
    starts = [step.start_time for step in steps if step.start_time is not None]
    ends = [step.end_time for step in steps if step.end_time is not None]
    began = min(starts, default=fallback)
    return began, max([began, *ends])


def _times(
    step: InteractionStep,
    known: Mapping[str, InteractionStep],
    times: dict[str, Times],
    whole: Times,
) -> Times:
    """Return a step's times; where its reporter did not say, those of the step that encloses it."""
    line: list[InteractionStep] = []
    current: InteractionStep | None = step
    while current is not None and current.step_id not in times and current not in line:
        line.append(current)
        current = known.get(current.parent_step_id or "")
    enclosing = whole if current is None else times.get(current.step_id, whole)
    for each in reversed(line):
        start = each.start_time or enclosing[0]
        end = each.end_time or (start if each.start_time is not None else enclosing[1])
        times[each.step_id] = enclosing = (start, max(start, end))
    return times[step.step_id]


def _trial_span(record: TrialRecord, times: Times) -> dict[str, Any]:
    row = record.row
    evaluation = {
        "timeUnixNano": _nanoseconds(times[1]),
        "name": "gen_ai.evaluation.result",
        "attributes": _attributes(evaluation_attributes(row)),
    }
    attributes = {
        "openinference.span.kind": "EVALUATOR",
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": row.domain,
        "graph.node.id": ASSESSOR,
        "greenroom.participant": row.participant,
        "greenroom.domain": row.domain,
        "greenroom.task.id": row.task_id,
        "greenroom.trial": row.trial,
        "greenroom.trace.id": row.trace_id,
        "greenroom.termination": row.termination,
    }
    return {
        "traceId": wire_trace_id(record.trace.trace_id),
        "spanId": wire_span_id(record.trace.trace_id),
        "name": f"invoke_workflow {row.domain}",
        "kind": _INTERNAL,
        **_lasting(times),
        "attributes": _attributes(attributes),
        "events": [evaluation],
        "status": _status(row.reason if row.fault is not None else None),
    }


def _step_span(
    step: InteractionStep, known: Mapping[str, InteractionStep], times: Times
) -> dict[str, Any]:
    parent = step.parent_step_id if step.parent_step_id in known else None
    ours = step.provenance is Provenance.OBSERVED and step.caller == ASSESSOR
    return {
        "traceId": wire_trace_id(step.trace_id),
        "spanId": wire_span_id(step.trace_id, step.step_id),
        "parentSpanId": wire_span_id(step.trace_id, parent),
        "name": step_name(step),
        "kind": _CLIENT if ours and step.call_type is CallType.AGENT else _INTERNAL,
        **_lasting(times),
        "attributes": _attributes(step_attributes(step)),
        "status": _status(step.error),
    }


def _lasting(times: Times) -> dict[str, str]:
    return {
        "startTimeUnixNano": _nanoseconds(times[0]),
        "endTimeUnixNano": _nanoseconds(times[1]),
    }


def _nanoseconds(time: datetime) -> str:
    """Since 1970, in whole numbers: a float of seconds would lose the microseconds."""
    return str((time - _EPOCH) // _MICROSECOND * 1000)


def _status(error: str | None) -> dict[str, Any]:
    return {} if error is None else {"code": _ERROR, "message": error}


def _attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": _value(value)}
        for key, value in sorted(values.items())
        if value is not None
    ]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}
