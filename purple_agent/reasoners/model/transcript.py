"""Transcript: what was said and done in a session, as the messages that a model is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from purple_agent.case import Entry, ToolCall
from purple_agent.reasoners.model.fences import bounded, defanged, fenced
from purple_agent.reasoners.model.tool_schemas import ToolSchemas

MAX_TEXT = 20_000
"""Characters of one text of the user or the agent."""
MAX_RESULT = 12_000
"""Characters of one result of a tool."""
MAX_OLD_RESULT = 600
"""The same once the whole has become too long; the newest `KEEP_WHOLE` entries are spared."""
MAX_TRANSCRIPT = 160_000
KEEP_WHOLE = 8

UNANSWERED = "No result of this call is known. It may or may not have been carried out."


def transcript(
    entries: Sequence[Entry], schemas: ToolSchemas, *, native: bool
) -> list[dict[str, Any]]:
    """Write a conversation as messages, oldest first; neighbours of the user's role are joined.

    Args:
        entries: The session's entries.
        schemas: The tools, for the names that the model knows them by.
        native: As calls and results of the wire; otherwise as JSON texts.
    """
    long = sum(_length(entry) for entry in entries) > MAX_TRANSCRIPT
    whole_from = len(entries) - KEEP_WHOLE
    limits = [
        MAX_OLD_RESULT if long and i < whole_from else MAX_RESULT for i in range(len(entries))
    ]
    results = {
        entry.call.id: bounded(entry.result.text, limit)
        for entry, limit in zip(entries, limits, strict=True)
        if entry.role == "result" and entry.call and entry.result
    }
    calls = {entry.call.id for entry in entries if entry.role == "call" and entry.call}
    messages: list[dict[str, Any]] = []
    for entry in entries:
        for message in _messages(entry, results, calls, schemas, native):
            _append(messages, message)
    return messages


def _length(entry: Entry) -> int:
    return len(entry.text) + (min(len(entry.result.text), MAX_RESULT) if entry.result else 0)


def _messages(
    entry: Entry, results: dict[str, str], calls: set[str], schemas: ToolSchemas, native: bool
) -> Iterator[dict[str, Any]]:
    match entry.role:
        case "user":
            yield {"role": "user", "content": bounded(defanged(entry.text), MAX_TEXT)}
        case "agent":
            yield {"role": "assistant", "content": bounded(entry.text, MAX_TEXT)}
        case "note":
            yield note(entry.text)
        case "call" if entry.call is not None:
            # A result follows its call at once: providers refuse anything between the two.
            yield from _call(entry.call, results.get(entry.call.id), schemas, native)
        case "result" if entry.call is not None and entry.call.id not in calls:
            yield _told(entry.call, results.get(entry.call.id, ""), schemas)
        case _:
            pass


def _call(
    call: ToolCall, result: str | None, schemas: ToolSchemas, native: bool
) -> Iterator[dict[str, Any]]:
    name, arguments = schemas.name_for_model(call.name), dict(call.arguments)
    said = UNANSWERED if result is None else result
    if not native:
        text = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
        yield {"role": "assistant", "content": bounded(text, MAX_TEXT)}
        yield _told(call, said, schemas)
        return
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    yield {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call.id, "type": "function", "function": function}],
    }
    content = fenced("tool-result", said, MAX_TEXT)
    yield {"role": "tool", "tool_call_id": call.id, "content": content}


def _told(call: ToolCall, result: str, schemas: ToolSchemas) -> dict[str, Any]:
    """Return a result as a message of the user's role."""
    text = (
        f"Result of {schemas.name_for_model(call.name)}:\n{fenced('tool-result', result, MAX_TEXT)}"
    )
    return {"role": "user", "content": text}


def note(text: str) -> dict[str, Any]:
    """Build a remark of our own checks, in the user's role: not every model takes another."""
    return {"role": "user", "content": fenced("note", text, MAX_TEXT)}


def _append(messages: list[dict[str, Any]], message: dict[str, Any]) -> None:
    """Add a message; templates of some models want the roles to alternate."""
    if messages and message["role"] == "user" == messages[-1]["role"]:
        joined = f"{messages[-1]['content']}\n\n{message['content']}"
        messages[-1] = {"role": "user", "content": joined}
    else:
        messages.append(message)
