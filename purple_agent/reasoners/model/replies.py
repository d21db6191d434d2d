"""Replies: what a model's answer proposes, whether it came as calls or as text with JSON in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from purple_agent.reasoners.model.completion import MAX_CALLS, Completed, ProposedCall, proposed
from purple_agent.reasoners.model.tool_schemas import THINK, ToolSchemas

MAX_PLACES = 100
"""Places in a text that are tried as the beginning of JSON."""
MAX_THOUGHT = 4_000

_RESPOND = "respond"
_THINKING = re.compile(
    r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A model's next move: words or calls; neither where it only thought, or said nothing.

    `problem` says, fit for the model, why its answer cannot be used.
    """

    words: str = ""
    calls: tuple[ProposedCall, ...] = ()
    thought: str = ""
    problem: str = ""


def read_reply(completed: Completed, schemas: ToolSchemas, *, native: bool) -> Proposal:
    """Read a model's answer. Text beside calls is a thought, never said to the user."""
    text = _THINKING.sub("", completed.content).strip()
    if completed.calls:
        return _from_calls(completed.calls, text, schemas)
    found = first_object(text)
    if found is not None:
        value, alone = found
        read = _from_object(value, schemas)
        # A model that was offered tools on the wire means an object amid its words as words.
        if read is not None and (alone or not native):
            return read
    broken = '"name"' in text and '"arguments"' in text
    if text.startswith(("{", "[", "```")) and (broken or not native):
        return Proposal(problem="Your answer is no readable call. Repeat it whole.")
    return Proposal(words=text)


def _from_calls(calls: tuple[ProposedCall, ...], text: str, schemas: ToolSchemas) -> Proposal:
    thoughts, kept, words = [text] if text else [], list[ProposedCall](), ""
    for call in calls:
        arguments = call.arguments or {}
        if schemas.can_think and call.name == THINK:
            thoughts.append(str(arguments.get("thought", "")))
        elif call.name == _RESPOND and _RESPOND not in schemas.own_names:
            words = words or str(arguments.get("content", ""))
        else:
            kept.append(
                ProposedCall(
                    name=schemas.own_name(call.name), arguments=call.arguments, raw=call.raw
                )
            )
    thought = "\n".join(thoughts)[:MAX_THOUGHT]
    return Proposal(words="" if kept else words, calls=tuple(kept), thought=thought)


def _from_object(value: Mapping[str, Any], schemas: ToolSchemas) -> Proposal | None:
    """Read an object as a call or words; None where it is neither."""
    several = value.get("tool_calls")
    if isinstance(several, list):
        calls = tuple(c for c in map(_call, several[:MAX_CALLS]) if c is not None)
        return _from_calls(calls, "", schemas) if calls else None
    call = _call(value)
    if call is None:
        return None
    thought = value.get("thought")
    return _from_calls((call,), thought if isinstance(thought, str) else "", schemas)


def _call(value: Any) -> ProposedCall | None:
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = next((value[k] for k in ("name", "tool", "tool_name") if k in value), None)
    keys = ("arguments", "parameters", "params", "args")
    arguments = next((value[k] for k in keys if k in value), None)
    if not isinstance(name, str) or (arguments is None and set(value) - {"name", "thought"}):
        return None
    return proposed(name, arguments)


def first_object(text: str) -> tuple[dict[str, Any], bool] | None:
    """Return the first JSON object in a text, and whether it is everything beside a code fence."""
    decoder = json.JSONDecoder(strict=False)
    for place in _braces(text):
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            around = re.sub(r"```(?:json)?", "", text[:place] + text[end:]).strip()
            return value, not around
    return None


def _braces(text: str) -> Iterator[int]:
    place = -1
    for _ in range(MAX_PLACES):
        place = text.find("{", place + 1)
        if place < 0:
            return
        yield place
