"""Request: the part of a conversation that belongs to the user's current request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from purple_agent.case import Dialect, Json, Session, ToolCall, ToolResult
from purple_agent.json_values import json_or_text
from purple_agent.reasoners.deterministic.dialogue_acts import DENIAL
from purple_agent.reasoners.deterministic.words import stems
from purple_agent.wire import read_tool_result

CLOSING: Final = "Is there anything else I can help you with?"
"""Ends a reply after which a request is over."""
PENDING: Final = "is pending"
"""Part of a reply after which a request waits for an approval."""

_USER_SAID: Final = "The user said: "
_WE_SAID: Final = "You said: "


@dataclass(frozen=True, kw_only=True)
class MadeCall:
    """A call, its result, and the number of the text that it was made for."""

    call: ToolCall
    result: ToolResult
    turn: int

    def is_call(self, name: str, arguments: Mapping[str, Json]) -> bool:
        """Tell whether it is this very call."""
        return self.call.name == name and dict(self.call.arguments) == dict(arguments)


@dataclass(frozen=True, kw_only=True)
class Request:
    """The present request: from the text that began it to now.

    Args:
        texts: The user's texts, oldest first.
        questions: Our question before each text; empty where we asked nothing.
        earlier: The user's texts before it, oldest first.
        made: The calls of it that are answered, oldest first.
        records: Results of earlier calls that the wire's first message holds.
    """

    texts: tuple[str, ...]
    questions: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    made: tuple[MadeCall, ...] = ()
    records: tuple[tuple[str, Json], ...] = ()

    @property
    def current(self) -> str:
        """Return the latest text; empty where nothing was said."""
        return self.texts[-1] if self.texts else ""

    @property
    def whole(self) -> str:
        """Return all texts as one."""
        return "\n".join(self.texts)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Return the stems of all texts."""
        return frozenset(stems(self.whole))

    def is_of_now(self, made: MadeCall) -> bool:
        """Tell whether a call was made for the latest text."""
        return made.turn == len(self.texts) - 1


def request_of(session: Session) -> Request:
    """Return the present request of a session."""
    texts, questions, earlier = list[str](), list[str](), list[str]()
    made, records = list[MadeCall](), list[tuple[str, Json]]()
    last_said = ""
    for entry in session.entries:
        if entry.role == "agent":
            last_said = entry.text
        elif entry.role == "user":
            text = entry.text
            is_new = not _goes_on(last_said, text)
            if is_new:
                earlier.extend(texts)
                texts, questions, made = [], [], []
            if session.dialect is Dialect.TAU2:
                text = _own_words(text, earlier, records)
            texts.append(text)
            questions.append(last_said if last_said.endswith("?") else "")
            last_said = ""
        elif entry.role == "result" and entry.call and entry.result:
            made.append(MadeCall(call=entry.call, result=entry.result, turn=len(texts) - 1))
    return Request(
        texts=tuple(texts),
        questions=tuple(questions),
        earlier=tuple(earlier),
        made=tuple(made),
        records=tuple(records),
    )


def _goes_on(last_said: str, text: str) -> bool:
    """Tell whether a text continues the request of our last reply."""
    if not last_said or DENIAL.search(text):
        return False
    return PENDING in last_said or (last_said.endswith("?") and not last_said.endswith(CLOSING))


def _own_words(text: str, earlier: list[str], records: list[tuple[str, Json]]) -> str:
    """Return the user's own words of a message of the wire, and add the history that it holds."""
    own = list[str]()
    for line in text.split("\n"):
        result = read_tool_result(line)
        if line.startswith(_USER_SAID):
            earlier.append(line.removeprefix(_USER_SAID))
        elif result is not None:
            records.append((result[0], json_or_text(result[1])))
        elif not line.startswith(_WE_SAID):
            own.append(line)
    return "\n".join(own).strip()
