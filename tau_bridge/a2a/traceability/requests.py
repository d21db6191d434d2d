"""Turns what a reported call asked for into one text. Pure.

A call between agents is also seen by observers, who keep the text of the message. So a request
that is an A2A message, or a part of one, is reduced to the same text; everything else is JSON in
one canonical form, which is equal for equal arguments.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tau_bridge.a2a.traceability.fields import canonical_json
from tau_bridge.integers import restore_integers

_HOLDERS: Final = ("text", "message", "content", "input", "prompt", "query", "request")
"""The only name in an object that holds nothing but the text of a message."""
_WRAPPERS: Final = ("params", "message", "request", "root")
"""Keys under which JSON-RPC requests, request objects and older parts keep the rest."""
_MAX_WRAPPERS: Final = 4


def message_text(value: Any) -> str | None:
    """Return the text of a request to an agent; canonical JSON where it is more than text.

    None where it is nested too deep to be written.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("text"), str):
        return str(value["text"])
    try:
        text = _text(value, _MAX_WRAPPERS)
    except (RecursionError, ValueError):
        return None
    return canonical_json(value) if text is None else text


def arguments_text(value: Any) -> str | None:
    """Return the arguments of a tool: a text as it is, everything else as canonical JSON."""
    return value if isinstance(value, str) else canonical_json(value)


def _text(value: Any, wrappers: int) -> str | None:
    if isinstance(value, str):
        return value
    if wrappers == 0:
        return None
    if isinstance(value, list):
        return _of_parts(value, wrappers)
    if not isinstance(value, dict) or not value:
        return None
    if isinstance(value.get("parts"), list):
        return _of_parts(value["parts"], wrappers)
    if isinstance(value.get("text"), str) and _is_part(value):
        return str(value["text"])
    if len(value) == 1:
        key, held = next(iter(value.items()))
        return _text(held, wrappers - 1) if key in (*_HOLDERS, *_WRAPPERS) else None
    inner = next((value[key] for key in _WRAPPERS if isinstance(value.get(key), dict)), None)
    is_envelope = "jsonrpc" in value or "configuration" in value or "message" in value
    return _text(inner, wrappers - 1) if inner is not None and is_envelope else None


def _is_part(value: dict[str, Any]) -> bool:
    """Tell whether an object with a text has nothing else but what a text part may have."""
    kind = value.get("kind", value.get("type", "text"))
    known = {"text", "kind", "type", "metadata", "mediaType", "media_type", "filename"}
    return kind == "text" and set(value) <= known


def _of_parts(parts: list[Any], wrappers: int) -> str | None:
    """Return the texts of a message's parts, or of messages, each on a line, the data behind them.

    None if there is a part that is neither text nor data.
    """
    texts: list[str] = []
    data: list[str] = []
    for part in parts:
        text = _text(part, wrappers - 1)
        if text is not None:
            texts.append(text)
        elif isinstance(part, dict) and "data" in part and part.get("kind", "data") == "data":
            data.append(json.dumps(restore_integers(part["data"]), ensure_ascii=False, default=str))
        else:
            return None
    return "\n".join(text for text in (*texts, *data) if text) if parts else None
