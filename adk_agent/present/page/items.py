"""conversation_items: a conversation as the page tells it, each call beside its result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from evals.diagnosis import Diagnosis

MOST_MESSAGES = 1_000
MOST_LISTED = 200
"""Checks, differences and findings of one trial."""
_Json = dict[str, Any]
_NOTHING: Final[Mapping[int, Sequence[_Json]]] = MappingProxyType({})
_NO_MARKS: Final[Mapping[str, str]] = MappingProxyType({})


def conversation_items(
    messages: Sequence[Mapping[str, Any]],
    writes: Callable[[str], bool],
    *,
    diagnosis: Diagnosis | None = None,
    inserted: Mapping[int, Sequence[_Json]] = _NOTHING,
    marked: Mapping[str, str] = _NO_MARKS,
) -> Iterator[_Json]:
    """Yield a conversation: the messages, and each call with its result.

    Args:
        messages: The conversation in the official format.
        writes: Tells of a tool's name whether a call may change the task's world.
        diagnosis: Why the trial did not pass.
        inserted: Further items, by the place of the message before which they stand.
        marked: Remarks about calls, by the id of the call; kept as `fault`.
    """
    messages = messages[:MOST_MESSAGES]
    results = _results(messages)
    departed = diagnosis.departure if diagnosis is not None else None
    differences = {
        (each.message, each.name): each
        for each in (diagnosis.calls[:MOST_LISTED] if diagnosis is not None else ())
        if each.message is not None
    }
    for place, message in enumerate(messages):
        yield from inserted.get(place, ())
        role = str(message.get("role"))
        if role == "tool":
            continue
        if message.get("content"):
            yield {"who": role, "text": str(message["content"]), **_note(message)}
        for number, call in enumerate(message.get("tool_calls") or ()):
            result = results.get((place, number))
            item = _call(call, result, role, writes) | _note(message)
            if mark := marked.get(str(call.get("id"))):
                item["fault"] = mark
            if result is not None and (remark := _note(result)):
                item["result_note"] = remark["note"]
            difference = differences.get((place, item["name"]))
            if difference is not None:
                item["gold"] = difference.how
                item["expected"] = pairs_of(difference.expected)
                item["differing"] = list(difference.differing)
            if departed is not None and (departed.message, departed.call) == (place, item["name"]):
                item["departs"] = True
            yield item
    yield from inserted.get(len(messages), ())


def _note(message: Mapping[str, Any]) -> _Json:
    """Return a benchmark's remark about a message; empty without one."""
    return {"note": str(message["note"])} if message.get("note") else {}


def _call(
    call: Mapping[str, Any],
    result: Mapping[str, Any] | None,
    role: str,
    writes: Callable[[str], bool],
) -> _Json:
    name = str(call.get("name"))
    return {
        "who": str(call.get("requestor") or role),
        "name": name,
        "args": pairs_of(call.get("arguments")),
        "writes": writes(name),
        "result": None if result is None else str(result.get("content") or ""),
        "error": bool(result is not None and result.get("error")),
    }


def pairs_of(arguments: object) -> list[tuple[str, Any]]:
    """Return arguments as pairs, texts as they are and everything else as JSON."""
    if not isinstance(arguments, Mapping):
        return []
    return [
        (str(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in arguments.items()
    ]


def _results(messages: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], Mapping[str, Any]]:
    """Return the result of each call, by the places of its message and of the call in it.

    A result follows its call; ids may be empty or used twice, so the next one that fits is taken.
    """
    waiting: list[tuple[str, tuple[int, int]]] = []
    found = {}
    for place, message in enumerate(messages):
        for number, call in enumerate(message.get("tool_calls") or ()):
            waiting.append((str(call.get("id")), (place, number)))
        if message.get("role") != "tool":
            continue
        fits = [each for each in waiting if each[0] == str(message.get("id"))]
        if fits:
            waiting.remove(fits[0])
            found[fits[0][1]] = message
    return found
