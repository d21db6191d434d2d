"""TasksSend: supports the older method `tasks/send` in front of the A2A endpoint.

    {"jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": {
        "id": "task-1", "message": {"role": "user", "parts": [{"type": "text", "text": "..."}]},
        "metadata": {"policy_doc": {...}, "tools_endpoint": "http://...", "session_id": "..."}}}

The answer is a task with its text in `result.artifacts[0].parts[0].text`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from purple_agent.json_values import without_surrogates
from purple_agent.reference.bodies import read_body, replayed

METHOD = "tasks/send"
_INVALID_PARAMS = -32602

Reply = Callable[[str, str, Mapping[str, Any]], Awaitable[str]]
"""Returns the answer to a text, given the conversation's id and the request's metadata."""


class TasksSend:
    """Answers `tasks/send` and passes everything else on.

    Args:
        app: The A2A application.
        reply: Answers a text.
    """

    def __init__(self, app: ASGIApp, *, reply: Reply) -> None:
        self._app = app
        self._reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a POST to `/` with this method, or pass the request on."""
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", "/"):
            await self._app(scope, receive, send)
            return
        body = await read_body(receive)
        if body is None:
            return
        asked = _object(body)
        if asked.get("method") != METHOD:
            await self._app(scope, replayed(body, receive), send)
            return
        await (await self._answer(asked))(scope, receive, send)

    async def _answer(self, asked: Mapping[str, Any]) -> JSONResponse:
        head = {"jsonrpc": "2.0", "id": _id(asked.get("id"))}
        params = asked.get("params")
        params = params if isinstance(params, dict) else {}
        text = _text(params.get("message"))
        if text is None:
            problem = "params.message has no part of type text"
            return JSONResponse({**head, "error": {"code": _INVALID_PARAMS, "message": problem}})
        metadata = params.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        # A request without a conversation gets a new one.
        task_id = without_surrogates(str(params.get("id") or uuid.uuid4()))
        named = params.get("sessionId") or metadata.get("session_id") or task_id
        session_id = without_surrogates(str(named))
        said = await self._reply(without_surrogates(text), session_id, metadata)
        result = {
            "id": task_id,
            "sessionId": session_id,
            "status": {"state": "completed"},
            "artifacts": [{"parts": [{"type": "text", "text": said}], "index": 0}],
        }
        return JSONResponse({**head, "result": result})


def _id(value: Any) -> str | int | None:
    """Return the id of a JSON-RPC request; None if it is neither text nor an integer."""
    if isinstance(value, str):
        return without_surrogates(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


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
