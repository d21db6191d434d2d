"""Payloads: what a tool answered, as text and as JSON, whatever it is."""

from __future__ import annotations

import json
from typing import Any

from purple_agent.case import ToolResult
from purple_agent.toolbox.failures import CallFailure, short

MAX_DEPTH = 64
_ENVELOPE = frozenset({"result", "error", "session_id", "tool"})


def read_json(text: str) -> Any:
    """The value that `text` stands for.

    Raises:
        ValueError: It is no JSON, is nested deeper than `MAX_DEPTH`, or holds what cannot be sent
            on as JSON in UTF-8: infinity, half a surrogate pair.
    """
    try:
        value = json.loads(text, parse_constant=_no_constant)
        if depth_exceeds(value, MAX_DEPTH):
            raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    return value


def depth_exceeds(value: Any, depth: int) -> bool:
    """Whether lists and objects are nested deeper than `depth` levels."""
    level = [value]
    for _ in range(depth + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return any(isinstance(inner, (dict, list)) for inner in level)


def result_of(text: str) -> ToolResult:
    """The result that a text is: read as JSON where it is some, otherwise itself."""
    try:
        return ToolResult(text=text, value=read_json(text))
    except ValueError:
        return ToolResult(text=text, value=text)


def answer_of(text: str) -> ToolResult:
    """What a plain tool server's answer means.

    `{"error": ...}` is a failure, `{"result": ...}` holds the result, and anything else is it.
    """
    result = result_of(text)
    body = result.value
    if not isinstance(body, dict):
        return result
    if body.get("error") not in (None, False, ""):
        return CallFailure(text=complaint(body["error"]) or "the tool failed, and does not say why")
    if "result" in body and _ENVELOPE.issuperset(body):
        return shown(body["result"])
    return result


def shown(value: Any) -> ToolResult:
    """A result that is a value; texts stand as they are, and may hold JSON."""
    if isinstance(value, str):
        return result_of(value)
    return ToolResult(text=json.dumps(value, ensure_ascii=False), value=value)


def complaint(error: Any) -> str:
    """What went wrong, in one line, out of what a server calls an error."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    return short(error if isinstance(error, str) else json.dumps(error, ensure_ascii=False))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
