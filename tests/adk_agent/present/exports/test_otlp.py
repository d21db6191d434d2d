"""Runs as spans: read by OpenTelemetry's own messages, and joined to what agents were sent."""

import base64
import json
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from adk_agent.present.exports.otlp import spans_of
from adk_agent.runs.store import load_trials
from evals.trace import CallType, Provenance
from tau_bridge.trace_context import wire_span_id, wire_trace_id
from tau_bridge.trace_file import read_trace_file
from tests.adk_agent.present.exports.spans import attributes, spans_in

from .conftest import BROKEN, START, trial

TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-01")
IDS = ("traceId", "spanId", "parentSpanId")


def test_the_messages_of_opentelemetry_read_every_line(lines):
    messages = pytest.importorskip(
        "opentelemetry.proto.collector.trace.v1.trace_service_pb2",
        reason="opentelemetry-proto is not installed",
    )
    json_format = pytest.importorskip("google.protobuf.json_format")
    for line in lines:
        body = json.loads(line)
        # Identifiers are hexadecimal in OTLP's JSON, and base64 in that of protocol buffers.
        for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for name in set(IDS) & span.keys():
                span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
        read = json_format.ParseDict(body, messages.ExportTraceServiceRequest())
        [scope] = read.resource_spans[0].scope_spans
        assert [span.span_id.hex() for span in scope.spans] == [
            span["spanId"] for span in spans_in(line)
        ]
        assert all(0 < span.start_time_unix_nano <= span.end_time_unix_nano for span in scope.spans)


def test_what_an_agent_was_sent_names_the_exported_trace_and_the_span_of_that_step(played, lines):
    sent = [TRACEPARENT.fullmatch(post.headers["traceparent"]) for post in played.log.posts]
    assert all(sent)
    calls = {
        (span["traceId"], span["spanId"])
        for line in lines
        for span in spans_in(line)
        if attributes(span).get("gen_ai.operation.name") == "invoke_agent"
    }
    assert len(calls) == len(sent) == 8
    assert {match.groups() for match in sent} == calls


def test_every_step_is_a_span_below_its_parent_and_the_first_encloses_the_trial(played, lines):
    records = {wire_trace_id(r.trace.trace_id): r for r in load_trials(played.results_dir, "run-1")}
    for line in lines:
        root, *steps = spans_in(line)
        record = records[root["traceId"]]
        assert "parentSpanId" not in root
        assert len(steps) == len(record.trace.steps)
        ids = {
            step.step_id: span["spanId"]
            for step, span in zip(record.trace.steps, steps, strict=True)
        }
        for step, span in zip(record.trace.steps, steps, strict=True):
            assert span["parentSpanId"] == ids.get(step.parent_step_id, root["spanId"])
        assert len({span["spanId"] for span in (root, *steps)}) == len(steps) + 1
        [event] = root["events"]
        assert attributes(event)["gen_ai.evaluation.score.value"] == record.row.reward


def test_errors_have_their_status_and_type(stored, exported):
    broken = {"error": "AgentTimeoutError: no reply within 3 s"}
    record = trial(steps=(broken,), **BROKEN | {"reason": "it hung", "fault": "infrastructure"})
    [text] = exported(stored(record), "otlp").values()
    root, call = spans_in(text)
    assert root["status"] == {"code": 2, "message": "it hung"}
    assert call["status"] == {"code": 2, "message": broken["error"]}
    assert attributes(call)["error.type"] == "AgentTimeoutError"
    [event] = root["events"]
    assert "gen_ai.evaluation.score.value" not in attributes(event)
    assert attributes(event)["gen_ai.evaluation.score.label"] == "failed"


UNTIMED = {"start_time": None, "end_time": None, "provenance": Provenance.REPORTED}


def test_a_reported_step_without_times_has_those_of_the_step_that_encloses_it():
    steps = (
        {"step_id": "1", "start_time": START, "end_time": START + timedelta(seconds=9)},
        {"step_id": "2", "parent_step_id": "1", **UNTIMED},
        {"step_id": "3", "parent_step_id": "2", **UNTIMED},
        {"step_id": "4", "parent_step_id": "gone", **UNTIMED},
        # Two that enclose each other, as a lying reporter may tell.
        {"step_id": "5", "parent_step_id": "6", **UNTIMED},
        {"step_id": "6", "parent_step_id": "5", **UNTIMED},
    )
    spans = spans_of(trial(steps=steps), fallback=START)
    times = {(span["startTimeUnixNano"], span["endTimeUnixNano"]) for span in spans}
    assert times == {("1767323045000000000", "1767323054000000000")}
    assert spans[4]["parentSpanId"] == spans[0]["spanId"]


def test_a_trial_that_was_not_begun_is_a_span_at_the_time_of_the_run():
    record = trial(**BROKEN | {"reason": "gone", "fault": "infrastructure"})
    [span] = spans_of(record, fallback=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    assert span["startTimeUnixNano"] == span["endTimeUnixNano"] == "1000000000"
    assert span["spanId"] == wire_span_id(record.trace.trace_id)


def test_score_reads_the_spans_as_the_calls_that_were_made(lines, played, tmp_path):
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(lines))
    read = list(read_trace_file(path))
    records = list(load_trials(played.results_dir, played.run_id))
    assert [entry.error for entry in read] == [None] * len(records)
    for entry, record in zip(read, records, strict=True):
        assert entry.id == wire_trace_id(record.trace.trace_id)
        assert Counter(map(ends, entry.trace.steps)) == Counter(
            ends(step) for step in record.trace.steps if step.call_type is not CallType.HOST
        )
        assert {step.provenance for step in entry.trace.steps} == {Provenance.REPORTED}


def ends(step):
    return step.call_type, step.caller, step.callee, step.from_outside, step.error
