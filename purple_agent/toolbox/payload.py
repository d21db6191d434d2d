"""Payloads: reads a tool's answer as text and as JSON."""

from __future__ import annotations

import json
from typing import Any

from purple_agent.case import ToolResult
from purple_agent.json_values import json_or_text
from purple_agent.toolbox.failures import CallFailure, short

_ENVELOPE = frozenset({"result", "error", "session_id", "tool"})


def result_of(text: str) -> ToolResult:
    """Return a text as a result, with its JSON value if it is JSON."""
    return ToolResult(text=text, value=json_or_text(text))


def answer_of(text: str) -> ToolResult:
    """Read a plain tool server's answer.

    `{"error": ...}` is a failure, `{"result": ...}` wraps the result, anything else is the result.
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
    """Return a value as a result; a text stays as it is and may contain JSON."""
    if isinstance(value, str):
        return result_of(value)
    return ToolResult(text=json.dumps(value, ensure_ascii=False), value=value)


def complaint(error: Any) -> str:
    """Return a server's error value as one line of text."""
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        error = error["message"]
    return short(error if isinstance(error, str) else json.dumps(error, ensure_ascii=False))
