"""TasksSend: an older method, `tasks/send`, in front of the A2A endpoint, for those who still send it.

    {"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {
        "id": "task-1", "message": {"role": "user", "parts": [{"type": "text", "text": "..."}]},
        "metadata": {"policy_doc": {...}, "tools_endpoint": "http://...", "session_id": "..."}}}

The answer is a task whose text stands in `result.artifacts[0].parts[0].text`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHOD = "tasks/send"
MAX_BODY_BYTES = 4 * 2**20
_INVALID_PARAMS = -32602

Reply = Callable[[str, str, Mapping[str, Any]], Awaitable[str]]
"""The answer to a text, in a conversation of this id, with the metadata that came along."""


class TasksSend:
    """Answers `tasks/send`, and passes everything else on.

    Args:
        app: The A2A application.
        reply: Answers a text.
    """

    def __init__(self, app: ASGIApp, *, reply: Reply) -> None:
        self._app = app
        self._reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the method of a POST to `/`."""
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", "/"):
            await self._app(scope, receive, send)
            return
        body = await _body(receive)
        asked = _object(body)
        if asked.get("method") != METHOD:
            await self._app(scope, _again(body, receive), send)
            return
        await (await self._answer(asked))(scope, receive, send)

    async def _answer(self, asked: Mapping[str, Any]) -> JSONResponse:
        head = {"jsonrpc": "2.0", "id": asked.get("id")}
        params = asked.get("params")
        params = params if isinstance(params, dict) else {}
        text = _text(params.get("message"))
        if text is None:
            problem = "params.message has no part of type text"
            return JSONResponse({**head, "error": {"code": _INVALID_PARAMS, "message": problem}})
        metadata = params.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        task_id = str(params.get("id") or "task")
        session_id = params.get("sessionId") or metadata.get("session_id") or task_id
        said = await self._reply(text, str(session_id), metadata)
        result = {
            "id": task_id,
            "sessionId": str(session_id),
            "status": {"state": "completed"},
            "artifacts": [{"parts": [{"type": "text", "text": said}], "index": 0}],
        }
        return JSONResponse({**head, "result": result})


async def _body(receive: Receive) -> bytes:
    """The body; a little more than the limit of one that is larger, which nobody can read then."""
    chunks: list[bytes] = []
    size = 0
    more = True
    while more and size <= MAX_BODY_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            break
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        more = message.get("more_body", False)
    return b"".join(chunks)


def _again(body: bytes, receive: Receive) -> Receive:
    """What gives a body that was read once more, and then whatever else comes."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _text(message: Any) -> str | None:
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return None
    texts = [
        part["text"]
        for part in parts
        if isinstance(part, dict)
        and part.get("type", part.get("kind", "text")) == "text"
        and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts) if texts else None
