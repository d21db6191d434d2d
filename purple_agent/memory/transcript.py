"""The entries of a conversation: how long they may get, and where they may be cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from purple_agent.case import Entry, Reply, Say, Session, ToolResult
from purple_agent.tokens import rough_count

SHORTENED_CHARACTERS = 400


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The part of a conversation that is kept word for word.

    A turn is something the user said, with everything up to the next thing the user said.

    Args:
        turns: As many turns as this are kept,
        tokens: of together as many tokens as this (a quarter of the characters);
        keep_turns: beyond, only the latest turns are kept,
        most_tokens: and of these only what this holds, but always the last turn;
        stored_tokens: beyond, even its results are cut to their beginnings.
    """

    turns: int = 20
    tokens: int = 8_000
    keep_turns: int = 6
    most_tokens: int = 32_000
    stored_tokens: int = 128_000

    def doubled(self) -> Limits:
        """Return the limits at which a summary that has not come yet is no longer waited for."""
        return replace(self, turns=2 * self.turns, tokens=2 * self.tokens)


def tokens_of(entry: Entry) -> int:
    """Estimate the tokens that an entry takes in a prompt."""
    if entry.result is not None:
        return rough_count(entry.text, entry.result.text)
    if entry.call is not None:
        arguments = json.dumps(entry.call.arguments, default=str)
        return rough_count(entry.text, entry.call.name, arguments)
    return rough_count(entry.text)


def turn_starts(entries: Sequence[Entry]) -> list[int]:
    """Return where turns begin; what precedes the user's first words is of the first turn."""
    starts = [index for index, entry in enumerate(entries) if entry.role == "user"]
    return [0, *starts[1:]] if entries else []


def surplus(entries: Sequence[Entry], limits: Limits) -> int:
    """Count the oldest entries that are to give way to a summary; 0 within the limits.

    The last turn stays, and a call stays with its result.
    """
    starts = turn_starts(entries)
    tokens = [tokens_of(entry) for entry in entries]
    if len(starts) <= limits.turns and sum(tokens) <= limits.tokens:
        return 0
    cut = starts[-limits.keep_turns] if len(starts) > limits.keep_turns else 0
    left = sum(tokens[cut:])
    while left > limits.most_tokens and cut < starts[-1]:
        left -= tokens[cut]
        cut += 1
    return _between_calls(entries, cut, starts[-1])


def current_turn(entries: Sequence[Entry]) -> Sequence[Entry]:
    """Return the last thing the user said and what followed."""
    starts = turn_starts(entries)
    return entries[starts[-1] :] if starts else ()


def shorten_results(entries: list[Entry], limits: Limits) -> None:
    """Cut results to their beginnings, the oldest first, until the entries fit what is stored."""
    stored = sum(map(tokens_of, entries))
    for index, entry in enumerate(entries):
        if stored <= limits.stored_tokens:
            return
        if entry.result is None or len(entry.result.text) <= SHORTENED_CHARACTERS:
            continue
        text = f"{entry.result.text[:SHORTENED_CHARACTERS]} [shortened]"
        value = None if entry.result.failed else text
        result = ToolResult(text=text, value=value, failed=entry.result.failed)
        entries[index] = replace(entry, result=result)
        stored -= tokens_of(entry) - tokens_of(entries[index])


def note_reply(session: Session, reply: Reply | None) -> None:
    """Enter a reply into the session, unless its maker did so already."""
    last = session.entries[-1] if session.entries else None
    if reply is None:
        return
    if isinstance(reply, Say):
        if reply.text.strip() and (last is None or last.role != "agent"):
            session.entries.append(Entry(role="agent", text=reply.text))
        return
    known = {entry.call.id for entry in session.entries if entry.call is not None}
    if reply.call.id not in known:
        session.entries.append(Entry(role="call", call=reply.call))


def _between_calls(entries: Sequence[Entry], cut: int, last: int) -> int:
    """Return the place nearest to `cut`, later ones first, that parts no call from its result."""
    open_until = 0
    result_at = {
        entry.call.id: index
        for index, entry in enumerate(entries)
        if entry.role == "result" and entry.call is not None
    }
    safe = []
    for index, entry in enumerate(entries[: last + 1]):
        if index > open_until or index == 0:
            safe.append(index)
        if entry.role == "call" and entry.call is not None:
            open_until = max(open_until, result_at.get(entry.call.id, 0))
    return next((place for place in safe if place >= cut), safe[-1])
