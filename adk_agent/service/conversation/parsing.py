"""Parsing of a message into the one text that asks for something."""

from __future__ import annotations

import json
from collections.abc import Iterable

from a2a.types import Message, Part
from google.protobuf.json_format import MessageToDict

from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_controls
from tau_bridge.integers import restore_integers

MAX_CHARS = 200_000
"""The limit of a request, JSON included."""
QUOTE_MARK = "<<<BEGIN_QUOTED_AGENT_CONTENT>>>"
"""The texts that ADK puts around the words of other agents, and before them."""


class UnsupportedPartError(RequestError):
    """A message holds a file; only text and JSON are read."""


def request_text(message: Message | None) -> str:
    """Return what a message asks for: its texts, and its data part as JSON; maybe nothing.

    A data part beside texts is put below them: JSON in a text is read, and that the words around
    it are not is a warning in the result.

    Raises:
        UnsupportedPartError: It holds a file, by content or by address.
        RequestError: It holds several data parts, or more than `MAX_CHARS` characters.
    """
    parts = [] if message is None else own_parts(message.parts)
    refuse_files(parts)
    texts = [part.text for part in parts if part.HasField("text") and part.text.strip()]
    data = [part.data for part in parts if part.HasField("data")]
    if len(data) > 1:
        raise RequestError(
            f"the message holds {len(data)} data parts, and one evaluation is asked for by one: "
            "send each in a message of its own"
        )
    text = "\n".join(
        [*texts, *(json.dumps(restore_integers(MessageToDict(each))) for each in data)]
    )
    if len(text) > MAX_CHARS:
        raise RequestError(f"the request has {len(text)} characters; at most {MAX_CHARS} are read")
    return text


def is_program(text: str) -> bool:
    """Tell whether a message is JSON, and so was not written by a person."""
    return text.lstrip().startswith("{")


def own_parts(parts: Iterable[Part]) -> list[Part]:
    """Return the parts in which the sender speaks, and not what it quotes of other agents.

    ADK's RemoteA2aAgent sends along what other agents of its program did: their words between
    marks, their data and files as they are, behind a text with a mark. What they say is nobody's
    request.
    """
    own: list[Part] = []
    quoting = False
    for part in parts:
        if part.HasField("text"):
            quoting = QUOTE_MARK in part.text
        if not quoting:
            own.append(part)
    return own


def refuse_files(parts: Iterable[Part]) -> None:
    """Refuse what is neither text nor JSON.

    Raises:
        UnsupportedPartError: There is such a part.
    """
    for part in parts:
        if part.HasField("raw") or part.HasField("url"):
            kind = escape_controls(part.media_type or "unknown content type")[:100]
            raise UnsupportedPartError(
                f"the message holds a file ({kind}), which is not read here: send the request as "
                "text (text/plain) or as JSON (application/json)"
            )
