"""Transcript: what of a conversation the present request is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from purple_agent.case import Dialect, Entry, Json, Session, ToolCall, ToolResult
from purple_agent.json_values import json_or_text
from purple_agent.reasoners.deterministic.acts import Act, acts_in
from purple_agent.wire import read_tool_result

CLOSING: Final = "Is there anything else I can help you with?"
"""Ends a reply after which a request is over."""
PENDING: Final = "is pending"
"""Stands in a reply after which a request waits for an approval."""

_OFFER: Final = re.compile(
    r"^\W*(?:hi|hello|welcome)?\b[^.\n]{0,80}\bhow (?:can|may) i (?:help|assist)[^\n]{0,80}\?\s*$",
    re.I,
)
_TOLD: Final = "The user said: "
_OURS: Final = "You said: "


@dataclass(frozen=True, kw_only=True)
class Made:
    """A call that was made, and what came of it."""

    call: ToolCall
    result: ToolResult
    turn: int
    """In how many user texts of the thread it came after, less one: 0 for the first."""

    def is_call(self, name: str, arguments: Mapping[str, Json]) -> bool:
        """Whether it is this very call."""
        return self.call.name == name and dict(self.call.arguments) == dict(arguments)


@dataclass(frozen=True, kw_only=True)
class Thread:
    """The present request: from the text that began it to now.

    Args:
        texts: What the user said in it, oldest first.
        questions: What we had said before each text, if that was a question; else empty.
        earlier: What the user said before it, oldest first.
        made: The calls of it that are answered, oldest first.
        records: JSON that the wire's first message told as results of earlier calls.
    """

    texts: tuple[str, ...]
    questions: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    made: tuple[Made, ...] = ()
    records: tuple[tuple[str, Json], ...] = ()

    @property
    def current(self) -> str:
        """The latest text; empty where nothing was said."""
        return self.texts[-1] if self.texts else ""


def thread_of(session: Session) -> Thread:
    """The present request of a session."""
    texts: list[str] = []
    questions: list[str] = []
    earlier: list[str] = []
    made: list[Made] = []
    records: list[tuple[str, Json]] = []
    last_said = ""
    for entry in session.entries:
        if entry.role == "agent":
            last_said = entry.text
        elif entry.role == "user":
            text, told, found = _read(entry.text, wire=session.dialect is Dialect.TAU2)
            records.extend(found)
            if not _goes_on(last_said, text):
                earlier.extend(texts)
                texts, questions, made = [], [], []
            earlier.extend(told)
            texts.append(text)
            questions.append(last_said if last_said.endswith("?") else "")
            last_said = ""
        elif entry.role == "result":
            made.extend(_made(entry, len(texts) - 1))
    return Thread(
        texts=tuple(texts),
        questions=tuple(questions),
        earlier=tuple(earlier),
        made=tuple(made),
        records=tuple(records),
    )


def _goes_on(said: str, text: str) -> bool:
    """Whether a text goes on with the request about which we said this last."""
    if not said or Act.DENIAL in acts_in(text):
        return False
    return PENDING in said or (said.endswith("?") and not said.endswith(CLOSING))


def _made(entry: Entry, turn: int) -> list[Made]:
    if entry.call is None or entry.result is None:
        return []
    return [Made(call=entry.call, result=entry.result, turn=turn)]


def _read(text: str, *, wire: bool) -> tuple[str, list[str], list[tuple[str, Json]]]:
    """The user's own words, what the user had said before, and results told along with them."""
    if not wire:
        return text, [], []
    lines = [line for line in text.split("\n") if not _OFFER.match(line)]
    told, records, own = list[str](), list[tuple[str, Json]](), list[str]()
    for line in lines:
        result = read_tool_result(line)
        if line.startswith(_TOLD):
            told.append(line.removeprefix(_TOLD))
        elif result is not None:
            records.append((result[0], json_or_text(result[1])))
        elif not line.startswith(_OURS):
            own.append(line)
    return "\n".join(own).strip(), told, records
