"""Bodies of OTLP/HTTP requests as spans in OTLP's JSON form. Pure."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tau_bridge.limits import Limits

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, kw_only=True)
class RequestLimits(Limits):
    """Limits on one export request. All are positive."""

    max_bytes: int = 4 * 1024 * 1024
    """Bytes of the body as it is sent."""
    max_inflated_bytes: int = 16 * 1024 * 1024
    """Bytes of the body once it is decompressed."""
    max_spans: int = 10_000
    """Spans of one request; the rest is refused."""
    body_timeout_s: float = 10.0
    """Seconds from the head of a request to the end of its body."""


@dataclass(frozen=True, kw_only=True)
class RawSpan:
    """A span in OTLP's JSON form, with its ids in lower case, and its size in bytes."""

    trace_id: str
    span_id: str
    value: Mapping[str, Any]
    size: int


class RefusedRequestError(Exception):
    """A request that is not taken. The message is for its sender."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def inflate(body: bytes, encoding: str, limits: RequestLimits) -> bytes:
    """Return the body without its compression.

    Raises:
        RefusedRequestError: It is compressed in another way than gzip, damaged, or too long.
    """
    if encoding in ("", "identity"):
        return body
    if encoding != "gzip":
        raise RefusedRequestError(415, f"content-encoding {encoding!r}: send gzip or none")
    reader = zlib.decompressobj(_GZIP_WINDOW)
    try:
        inflated = reader.decompress(body, limits.max_inflated_bytes + 1)
    except zlib.error as error:
        raise RefusedRequestError(400, f"the body is no gzip: {error}") from error
    if len(inflated) > limits.max_inflated_bytes:
        raise RefusedRequestError(
            413, f"the body inflates to more than {limits.max_inflated_bytes} bytes"
        )
    if not reader.eof or reader.unused_data:
        raise RefusedRequestError(400, "the body is not one whole gzip member")
    return inflated


def spans_in(body: bytes, content_type: str) -> Iterator[RawSpan | None]:
    """Yield the spans of an export request; None for one without valid ids.

    Raises:
        RefusedRequestError: The body is no export request of this content type.
    """
    if content_type == PROTOBUF:
        yield from _of_protobuf(body)
    elif content_type == JSON:
        yield from _of_json(body)
    else:
        raise RefusedRequestError(415, f"content-type {content_type!r}: send {PROTOBUF} or {JSON}")


def _of_json(body: bytes) -> Iterator[RawSpan | None]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedRequestError(400, f"the body is no JSON: {type(error).__name__}") from error
    for resource in _listed(request, "resourceSpans"):
        for scope in _listed(resource, "scopeSpans"):
            for span in _listed(scope, "spans"):
                yield _raw(span) if isinstance(span, Mapping) else None


def _listed(value: Any, key: str) -> list[Any]:
    if not isinstance(value, Mapping) or not isinstance(value.get(key, []), list):
        raise RefusedRequestError(400, f"must be an object whose {key!r} is a list")
    found: list[Any] = value.get(key, [])
    return found


def _raw(span: Mapping[str, Any]) -> RawSpan | None:
    ids = {key: span.get(key) for key in ("traceId", "spanId")}
    if not (_is_id(ids["traceId"], 32) and _is_id(ids["spanId"], 16)):
        return None
    parent = span.get("parentSpanId") or None
    if parent is not None and not _is_id(parent, 16):
        return None
    lower = {key: str(value).lower() for key, value in ids.items()}
    value = {**span, **lower, "parentSpanId": None if parent is None else str(parent).lower()}
    try:
        size = len(json.dumps(value))
    except RecursionError:
        return None
    return RawSpan(trace_id=lower["traceId"], span_id=lower["spanId"], value=value, size=size)


def _is_id(value: Any, digits: int) -> bool:
    """Tell whether a value is an id; one of nothing but zeros is invalid."""
    if not isinstance(value, str) or len(value) != digits or not value.strip("0"):
        return False
    return not value.lower().strip("0123456789abcdef")


def _of_protobuf(body: bytes) -> Iterator[RawSpan | None]:
    # Takes 30 ms to import: only a run that receives such spans pays it.
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        request = ExportTraceServiceRequest.FromString(body)
    except Exception as error:  # DecodeError, of a package that is not imported here
        if type(error).__name__ != "DecodeError":
            raise
        raise RefusedRequestError(400, "the body is no ExportTraceServiceRequest") from error
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            yield from (_raw(_span(span)) for span in scope.spans)


def _span(span: Span) -> dict[str, Any]:
    return {
        "traceId": span.trace_id.hex(),
        "spanId": span.span_id.hex(),
        "parentSpanId": span.parent_span_id.hex(),
        "name": span.name,
        "startTimeUnixNano": span.start_time_unix_nano,
        "endTimeUnixNano": span.end_time_unix_nano,
        "attributes": [_pair(each) for each in span.attributes],
        "events": [
            {"name": each.name, "attributes": [_pair(pair) for pair in each.attributes]}
            for each in span.events
        ],
        "status": {"code": span.status.code, "message": span.status.message},
    }


def _pair(pair: KeyValue) -> dict[str, Any]:
    return {"key": pair.key, "value": _value(pair.value)}


def _value(value: AnyValue) -> dict[str, Any]:
    """Return a value in OTLP's JSON form. The parser of protobuf bounds its depth to 100."""
    match value.WhichOneof("value"):
        case "string_value":
            return {"stringValue": value.string_value}
        case "bool_value":
            return {"boolValue": value.bool_value}
        case "int_value":
            return {"intValue": value.int_value}
        case "double_value":
            return {"doubleValue": value.double_value}
        case "array_value":
            return {"arrayValue": {"values": [_value(each) for each in value.array_value.values]}}
        case "kvlist_value":
            return {"kvlistValue": {"values": [_pair(each) for each in value.kvlist_value.values]}}
        case "bytes_value":
            return {"bytesValue": value.bytes_value.hex()}
        case _:
            return {}
