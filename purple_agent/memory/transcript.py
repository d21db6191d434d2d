"""The entries of a conversation: their limits, and where they may be cut."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from purple_agent.case import Entry, Reply, Say, Session, ToolResult
from purple_agent.tokens import rough_count

SHORTENED_CHARACTERS = 400


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The part of a conversation that is kept verbatim.

    A turn is a message of the user, with everything up to the next one.

    Args:
        turns: The most turns before older ones are summarised.
        tokens: The most tokens (a quarter of the characters) before that.
        keep_turns: The number of latest turns to keep then.
        most_tokens: The most tokens of these turns; the last turn is always kept.
        stored_tokens: The most tokens before results are cut to their beginnings.
    """

    turns: int = 20
    tokens: int = 8_000
    keep_turns: int = 6
    most_tokens: int = 32_000
    stored_tokens: int = 128_000

    def doubled(self) -> Limits:
        """Return the limits at which a late summary is no longer awaited."""
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
    """Return the indexes at which turns start; entries before the first belong to it."""
    starts = [index for index, entry in enumerate(entries) if entry.role == "user"]
    return [0, *starts[1:]] if entries else []


def surplus(entries: Sequence[Entry], limits: Limits) -> int:
    """Count the oldest entries to replace with a summary; 0 within the limits.

    The last turn stays, and a call is never separated from its result.
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
    """Return the last message of the user and everything after it."""
    starts = turn_starts(entries)
    return entries[starts[-1] :] if starts else ()


def shorten_results(entries: list[Entry], limits: Limits) -> None:
    """Cut results to their beginnings, oldest first, until the entries fit `stored_tokens`."""
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
    """Add a reply to the session, unless the reasoner stage already did."""
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
    """Return the first index from `cut` on that separates no call from its result, or the last."""
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
