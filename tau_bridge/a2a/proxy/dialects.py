"""Reads requests and answers as they pass: JSON-RPC and HTTP+JSON of protocols 1.0 and 0.3. Pure.

Everything is brought into the shape of protocol 1.0, as far as it says what was asked and answered,
and then read by the same `ReplyFold` as the messenger's own replies. What has another shape is
left out: the proxy passes on what it does not understand, and it never fails over it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from a2a.helpers import new_data_part
from a2a.types import Part, StreamResponse, TaskState

from tau_bridge.a2a.replies import ReplyFold, UnreadablePartError

_MESSAGE_METHODS: Final = {
    "SendMessage",
    "SendStreamingMessage",
    "message/send",
    "message/stream",
}
_MESSAGE_PATHS: Final = ("/message:send", "/message:stream")
_LEGACY_PATH: Final = "/v1/"
_STATES: Final = set(TaskState.keys())
_SPELLINGS: Final = {"TASK_STATE_CANCELLED": "TASK_STATE_CANCELED"}
_MAX_DATA_DEPTH: Final = 32
"""Data that is nested deeper is kept as text: protobuf reads no more than some 40 levels."""
_UNREADABLE: Final = (ValueError, TypeError, OverflowError, RecursionError, UnreadablePartError)

Binding = Literal["JSONRPC", "HTTP+JSON"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request, as far as it matters here.

    `is_message` tells the calls that become steps; `request_id` is that of JSON-RPC. `wraps_data`
    tells the HTTP+JSON of protocol 0.3, which has data parts within data parts. `is_batch` tells
    several JSON-RPC requests in one, which A2A does not have.
    """

    binding: Binding
    is_message: bool = False
    is_batch: bool = False
    request_id: str | int | None = None
    wraps_data: bool = False
    text: str | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer, or one event of a stream: an event to fold, or an error of the protocol."""

    event: StreamResponse | None = None
    error: str | None = None


def parsed(body: bytes) -> Any:
    """Parse the JSON in `body`; None without any."""
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None


def read_request(method: str, path: str, body: bytes) -> Request:
    """Read a request. `path` is the one at the callee's origin."""
    wraps_data = _LEGACY_PATH in path
    if method != "POST":
        return Request(binding="HTTP+JSON", wraps_data=wraps_data)
    content = parsed(body)
    if path.endswith(_MESSAGE_PATHS):
        return Request(
            binding="HTTP+JSON",
            is_message=True,
            wraps_data=wraps_data,
            text=_request_text(content, wraps_data=wraps_data),
        )
    if isinstance(content, list):
        return Request(binding="JSONRPC", is_batch=True)
    if not isinstance(content, dict) or not isinstance(content.get("method"), str):
        return Request(binding="HTTP+JSON", wraps_data=wraps_data)
    request_id = content.get("id")
    is_message = content["method"] in _MESSAGE_METHODS
    return Request(
        binding="JSONRPC",
        is_message=is_message,
        request_id=request_id if isinstance(request_id, str | int) else None,
        text=_request_text(content.get("params"), wraps_data=False) if is_message else None,
    )


def read_answer(content: Any, request: Request) -> Answer:
    """Read the answer to `request`, or one event of it."""
    if not isinstance(content, dict):
        return Answer()
    error = content.get("error")
    if isinstance(error, dict):
        code, message = error.get("code"), error.get("message")
        kind = "JSON-RPC error" if request.binding == "JSONRPC" else "error"
        return Answer(error=f"{kind} {code}: {message}")
    result = content.get("result") if request.binding == "JSONRPC" else content
    return Answer(event=_event(result, wraps_data=request.wraps_data))


def error_body(request: Request, message: str, *, code: int = -32603) -> dict[str, Any]:
    """Return an error answer in the shape that the caller of `request` reads."""
    if request.binding == "JSONRPC":
        error = {"code": code, "message": message}
        return {"jsonrpc": "2.0", "id": request.request_id, "error": error}
    return {"error": {"code": 500, "status": "INTERNAL", "message": message}}


def _request_text(params: Any, *, wraps_data: bool) -> str | None:
    """Return text and data of the message, read as a reply's are; None without one."""
    if not isinstance(params, dict):
        return None
    message = params.get("message", params.get("request"))
    event = _event({"message": message}, wraps_data=wraps_data)
    if event is None:
        return None
    fold = ReplyFold()
    fold.add(event)
    try:
        return fold.reply().as_text()
    except _UNREADABLE:
        return None


def _event(result: Any, *, wraps_data: bool) -> StreamResponse | None:
    """Read an event: a task, a message or an update, wrapped or tagged or bare."""
    if not isinstance(result, dict):
        return None
    try:
        shaped = _shape(result, wraps_data)
        return StreamResponse(**shaped) if shaped is not None else None
    except _UNREADABLE:
        return None


def _shape(result: Mapping[str, Any], wraps_data: bool) -> dict[str, Any] | None:
    shapes = {
        "task": _task,
        "message": _message,
        "status_update": _status_update,
        "artifact_update": _artifact_update,
    }
    for name, key, kind in (
        ("task", "task", "task"),
        ("message", "message", "message"),
        ("message", "msg", ""),
        ("status_update", "statusUpdate", "status-update"),
        ("artifact_update", "artifactUpdate", "artifact-update"),
    ):
        inner = result if kind and result.get("kind") == kind else result.get(key)
        if isinstance(inner, dict):
            return {name: shapes[name](inner, wraps_data)}
    if isinstance(result.get("status"), dict) and isinstance(result.get("id"), str):
        return {"task": _task(result, wraps_data)}
    return None


def _task(task: Mapping[str, Any], wraps_data: bool) -> dict[str, Any]:
    # Of the history, only the last message may be an answer.
    history = _dicts(task.get("history"))[-1:]
    return {
        "id": _text(task, "id"),
        "context_id": _text(task, "contextId", "context_id"),
        "status": _status(task.get("status"), wraps_data),
        "artifacts": [_artifact(one, wraps_data) for one in _dicts(task.get("artifacts"))],
        "history": [_message(one, wraps_data) for one in history],
    }


def _status_update(update: Mapping[str, Any], wraps_data: bool) -> dict[str, Any]:
    return {
        "task_id": _text(update, "taskId", "task_id"),
        "context_id": _text(update, "contextId", "context_id"),
        "status": _status(update.get("status"), wraps_data),
    }


def _artifact_update(update: Mapping[str, Any], wraps_data: bool) -> dict[str, Any]:
    artifact = update.get("artifact")
    return {
        "task_id": _text(update, "taskId", "task_id"),
        "context_id": _text(update, "contextId", "context_id"),
        "artifact": _artifact(artifact if isinstance(artifact, dict) else {}, wraps_data),
        "append": update.get("append") is True,
    }


def _status(status: Any, wraps_data: bool) -> dict[str, Any]:
    if not isinstance(status, dict):
        return {}
    message = status.get("message", status.get("update"))
    said = {"message": _message(message, wraps_data)} if isinstance(message, dict) else {}
    return {"state": _state(status.get("state")), **said}


def _state(state: Any) -> str:
    name = str(state).upper().replace("-", "_")
    name = name if name.startswith("TASK_STATE_") else f"TASK_STATE_{name}"
    name = _SPELLINGS.get(name, name)
    return name if name in _STATES else "TASK_STATE_UNSPECIFIED"


def _artifact(artifact: Mapping[str, Any], wraps_data: bool) -> dict[str, Any]:
    return {
        "artifact_id": _text(artifact, "artifactId", "artifact_id"),
        "parts": _parts(artifact.get("parts"), wraps_data),
    }


def _message(message: Mapping[str, Any], wraps_data: bool) -> dict[str, Any]:
    by_agent = "agent" in str(message.get("role")).lower()
    return {
        "message_id": _text(message, "messageId", "message_id"),
        "context_id": _text(message, "contextId", "context_id"),
        "task_id": _text(message, "taskId", "task_id"),
        "role": "ROLE_AGENT" if by_agent else "ROLE_USER",
        # The HTTP+JSON of protocol 0.3 calls them content.
        "parts": _parts(message.get("parts", message.get("content")), wraps_data),
    }


def _parts(parts: Any, wraps_data: bool) -> list[Part]:
    return [part for one in _dicts(parts) if (part := _part(one, wraps_data)) is not None]


def _part(part: Mapping[str, Any], wraps_data: bool) -> Part | None:
    """Read a part with its text or its data; a file only where it may be text."""
    if isinstance(part.get("text"), str):
        return Part(text=part["text"])
    if "data" in part:
        data = part["data"]
        wrapped = wraps_data and isinstance(data, dict) and set(data) == {"data"}
        return _data_part(data["data"] if wrapped else data)
    file = part["file"] if isinstance(part.get("file"), dict) else part
    content = _text(file, "raw", "bytes", "fileWithBytes", "file_with_bytes")
    if not content:
        return None
    media_type = _text(file, "mediaType", "mimeType", "media_type", "mime_type")
    return Part(raw=base64.b64decode(content), media_type=media_type)


def _data_part(data: Any) -> Part:
    level, depth = [data], 0
    while level and depth <= _MAX_DATA_DEPTH:
        depth += 1
        level = [inner for outer in level for inner in _inside(outer)]
    return new_data_part(data) if not level else Part(text=json.dumps(data, ensure_ascii=False))


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _dicts(values: Any) -> list[dict[str, Any]]:
    listed = values if isinstance(values, list) else []
    return [value for value in listed if isinstance(value, dict)]


def _text(holder: Mapping[str, Any], *keys: str) -> str:
    return next((value for key in keys if isinstance(value := holder.get(key), str)), "")
