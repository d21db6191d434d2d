import contextlib
import gzip
import json

import anyio
import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tau_bridge.otlp.decoding import JSON, PROTOBUF, RequestLimits
from tau_bridge.otlp.inbox import InboxLimits, SpanInbox
from tau_bridge.otlp.receiver import OtlpReceiver

from .export import TRACE, below, request, span


@contextlib.asynccontextmanager
async def receiving(*, limits=None, **inbox_limits):
    """A client of a receiver, and the spans of the one trial that is on."""
    inbox = SpanInbox(InboxLimits(**inbox_limits))
    receiver = OtlpReceiver(inbox, limits=limits or RequestLimits())
    transport = httpx.ASGITransport(receiver.answer)
    async with (
        inbox.run(grace_s=0) as run,
        httpx.AsyncClient(transport=transport, base_url="http://otlp") as http,
    ):
        with run.trial(TRACE) as trial:
            yield http, trial


async def post(http, body, kind=JSON, path="/v1/traces", **headers):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await http.post(path, content=content, headers={"content-type": kind, **headers})


def as_protobuf(*spans):
    message = ExportTraceServiceRequest()
    found = message.resource_spans.add().scope_spans.add().spans
    for each in spans:
        made = found.add(
            trace_id=bytes.fromhex(each["traceId"]),
            span_id=bytes.fromhex(each["spanId"]),
            name=each["name"],
            start_time_unix_nano=int(each["startTimeUnixNano"]),
        )
        for pair in each["attributes"]:
            made.attributes.add(key=pair["key"]).value.string_value = pair["value"]["stringValue"]
        inside = made.attributes.add(key="list").value.kvlist_value.values.add(key="one")
        inside.value.array_value.values.add().int_value = 7
    return message.SerializeToString()


async def test_json_and_protobuf_plain_and_gzip_are_taken():
    async with receiving() as (http, trial):
        answers = [
            await post(http, request(span("a"))),
            await post(
                http,
                gzip.compress(json.dumps(request(span("b"))).encode()),
                **{"content-encoding": "gzip"},
            ),
            await post(http, as_protobuf(span("c")), PROTOBUF),
            await post(
                http,
                gzip.compress(as_protobuf(span("d"))),
                PROTOBUF,
                **{"content-encoding": "gzip"},
            ),
        ]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert [answer.headers["content-type"] for answer in answers] == [
        JSON,
        JSON,
        PROTOBUF,
        PROTOBUF,
    ]
    assert answers[0].json() == {}
    assert not ExportTraceServiceResponse.FromString(answers[2].content).HasField("partial_success")
    assert list(trial.spans) == [below(each) for each in "abcd"]
    *_, listed = trial.spans[below("c")].value["attributes"]
    seven = {"arrayValue": {"values": [{"intValue": 7}]}}
    assert listed["value"] == {"kvlistValue": {"values": [{"key": "one", "value": seven}]}}


async def test_spans_that_are_refused_make_a_partial_success():
    strange, nameless = span("x", trace="of nobody"), {**span("y"), "spanId": "0" * 16}
    async with receiving() as (http, trial):
        told = (await post(http, request(span("a"), strange, nameless, 7))).json()
        answer = await post(http, as_protobuf(strange), PROTOBUF)
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert told["partialSuccess"] == {
        "rejectedSpans": "3",
        "errorMessage": "1 belonged to no trial, 2 had no valid ids",
    }
    assert (partial.rejected_spans, partial.error_message) == (1, "1 belonged to no trial")
    assert list(trial.spans) == [below("a")]
    [warning] = trial.run.warnings()
    assert "not used: 2 belonged to no trial, 2 had no valid ids; " in warning


@pytest.mark.parametrize(
    ("body", "kind", "headers", "status"),
    [
        (b"{", JSON, {}, 400),
        (b"[" * 100_000, JSON, {}, 400),
        (b"[]", JSON, {}, 400),
        (b'{"resourceSpans": {}}', JSON, {}, 400),
        (b'{"resourceSpans": [1]}', JSON, {}, 400),
        (b"\xff\xff\xff", PROTOBUF, {}, 400),
        (b"no gzip", JSON, {"content-encoding": "gzip"}, 400),
        (gzip.compress(b"{}", mtime=0)[:-4], JSON, {"content-encoding": "gzip"}, 400),
        (b"x" * 200_001, JSON, {}, 413),
        (gzip.compress(b" " * 1_000_000, mtime=0), JSON, {"content-encoding": "gzip"}, 413),
        (b"{}", "text/plain", {}, 415),
        (b"{}", JSON, {"content-encoding": "br"}, 415),
    ],
)
async def test_a_request_that_cannot_be_read_is_refused(body, kind, headers, status):
    limits = RequestLimits(max_bytes=200_000, max_inflated_bytes=500_000)
    async with receiving(limits=limits) as (http, trial):
        answer = await post(http, body, kind, **headers)
    assert answer.status_code == status
    assert trial.spans == {}


async def test_only_traces_are_received():
    async with receiving() as (http, trial):
        assert (await post(http, {}, path="/v1/metrics")).status_code == 404
        assert (await http.get("/v1/traces")).status_code == 405
        await post(http, request(span("a")))
    assert trial.run.warnings() == []


async def test_requests_that_were_refused_are_counted():
    async with receiving() as (http, trial):
        await post(http, b"{")
        await post(http, b"{}", "text/plain")
    assert trial.run.warnings()[-1] == (
        "requests over OTLP that were refused, with all of their spans: 2"
    )


async def test_a_sender_of_a_long_body_reads_that_it_is_too_long():
    async with (
        OtlpReceiver(SpanInbox()) as receiver,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{receiver.port}") as http,
    ):
        long = await post(http, b" " * 12_000_000)
        strange = await post(http, b" " * 12_000_000, "text/plain")
    assert [long.status_code, strange.status_code] == [413, 415]


async def test_a_sender_is_told_to_wait_where_too_much_is_kept():
    async with receiving(max_bytes=1000) as (http, trial):
        assert (await post(http, request(span("a")))).status_code == 200
        full = await post(http, request(span("b"), span("c")))
    assert (full.status_code, full.headers["retry-after"]) == (503, "1")
    assert list(trial.spans) == [below("a")]


async def test_a_body_that_does_not_come_is_given_up():
    sent = []

    async def receive():
        await anyio.sleep_forever()

    async def send(message):
        sent.append(message)

    receiver = OtlpReceiver(SpanInbox(), limits=RequestLimits(body_timeout_s=0.01))
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/traces",
        "headers": [(b"content-type", JSON.encode())],
    }
    await receiver.answer(scope, receive, send)
    assert sent[0]["status"] == 408


async def test_it_serves_on_loopback():
    async with (
        OtlpReceiver(SpanInbox()) as receiver,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{receiver.port}") as http,
    ):
        assert (await post(http, request())).status_code == 200
