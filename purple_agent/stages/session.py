"""Stage 3, the session context: adds the message, and keeps the conversation within its limits."""

from __future__ import annotations

import re

from purple_agent import wire
from purple_agent.case import Case, Dialect, Entry, Session, ToolCall, ToolResult
from purple_agent.json_values import json_or_text
from purple_agent.memory.summary import extract
from purple_agent.memory.transcript import Limits, surplus

LONG = "session:long"
"""Flag: the conversation is to be summarised."""

_ERROR = re.compile(r"error\b", re.IGNORECASE)
_GREETING = re.compile(
    r"(?:hi|hello|hey|welcome)\b[^\n?]{0,80}\b(?:help|assist)\b[^\n?]{0,40}\?[ \t]*\n+(?=\s*\S)",
    re.IGNORECASE,
)


class SessionStage:
    """Adds the user's words, or on the τ² wire the result of the call in the last reply.

    A conversation beyond its limits gets a flag here and a summary in stage 8. If that summary is
    still missing when the conversation is twice as long, rules make one.

    Args:
        limits: The part of a conversation that is kept verbatim.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()

    async def __call__(self, case: Case) -> Case:
        """Add the message to its session."""
        session = case.session
        enter(session, case.incoming.text)
        if not surplus(session.entries, self._limits):
            return case
        late = surplus(session.entries, self._limits.doubled())
        if late:
            session.summary = extract(session.summary, session.entries[:late]).text
            del session.entries[:late]
        return case.flagged(LONG)


def enter(session: Session, text: str) -> None:
    """Add a message to its session, read in the session's dialect."""
    session.entries.extend(_entries(session, text))


def _entries(session: Session, text: str) -> list[Entry]:
    if session.dialect is Dialect.BUSINESS:
        return [Entry(role="user", text=text)]
    call = session.pending_call
    if call is not None:
        return [Entry(role="result", call=call, result=read_result(call, text))]
    first = None if session.entries else wire.read_opening(text)
    return [Entry(role="user", text=text)] if first is None else _opening(first.user_text)


def read_result(call: ToolCall, text: str) -> ToolResult:
    """Read the message after a call as its result.

    Only one call is made at a time, so the whole message is its result, whatever it looks like. The
    prefix `Tool '<name>' result: `, which some assessors write, is removed.
    """
    told = wire.read_tool_result(text)
    content = told[1] if told is not None and told[0] == call.name else text
    if _ERROR.match(content):
        return ToolResult(text=content, failed=True)
    return ToolResult(text=content, value=json_or_text(content))


def _opening(text: str) -> list[Entry]:
    """Return the user's first words, after the agent's greeting if the message has one."""
    greeting = _GREETING.match(text)
    if greeting is None:
        return [Entry(role="user", text=text)]
    said = greeting.group().strip()
    return [
        Entry(role="agent", text=said),
        Entry(role="user", text=text[greeting.end() :].strip()),
    ]
