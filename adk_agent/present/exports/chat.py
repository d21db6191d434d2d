"""Conversations as the chat messages that Inspect knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def chat_messages(records: Sequence[Mapping[str, Any]], *, prefix: str) -> list[dict[str, Any]]:
    """Return the messages of a conversation, in order.

    Inspect's user calls no tools: calls of a user stand in their message's metadata.

    Args:
        records: The conversation in the official results format.
        prefix: Begins every message's id.
    """
    names: dict[str, str] = {}
    messages = []
    for number, record in enumerate(records):
        calls = record.get("tool_calls") or []
        names.update({str(call.get("id", "")): call["name"] for call in calls})
        message = {
            "id": f"{prefix}.{number}",
            "role": record["role"],
            "content": record.get("content") or "",
        }
        messages.append({**message, **_rest(record, calls, names)})
    return messages


def _rest(
    record: Mapping[str, Any], calls: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> dict[str, Any]:
    if record["role"] == "tool":
        return _result(record, names)
    if not calls:
        return {}
    if record["role"] == "user":
        return {"metadata": {"tool_calls": list(calls)}}
    return {
        "tool_calls": [
            {
                "id": str(call.get("id", "")),
                "function": call["name"],
                "arguments": call.get("arguments", {}),
                "type": "function",
            }
            for call in calls
        ]
    }


def _result(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    call_id = str(record.get("id", ""))
    result: dict[str, Any] = {
        "tool_call_id": call_id,
        "function": names.get(call_id),
        "metadata": {"requestor": record.get("requestor", "assistant")},
    }
    if record.get("error"):
        result["error"] = {"type": "unknown", "message": record.get("content") or ""}
    return result
