"""Scratchpad: what the model reasoner remembers of a session between its replies."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from purple_agent.case import Entry, Session, ToolResult
from purple_agent.reasoners.model.completion import ProposedCall


def key_of(name: str, arguments: Mapping[str, Any]) -> str:
    """Return a key that two calls share exactly where their names and arguments are the same."""
    return f"{name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False, default=str)}"


@dataclass(kw_only=True)
class Scratchpad:
    """The reasoner's notes on one session.

    Args:
        queue: Further calls of the model's last message.
        waiting_for: The id of the call whose result the queue waits for.
        sent_back: Changes that were sent back for reading first; each is, once.
        objections: What a check had against a change, nothing where it is empty, and how much was
            known then: it holds until something new is said or read.
        read: Values that were given to a reading tool, by the parameter's name.
        turn: Counts the user's messages.
        done: Changes that were carried out, and in which turn the last time.
        made: The number of times that each call was made in this turn.
        seen: Ids of the calls whose results were looked at.
        author: The writer of the latest reply.
        flags: The state of the models, such as `model:unavailable`.
    """

    queue: deque[ProposedCall] = field(default_factory=deque)
    waiting_for: str = ""
    sent_back: set[str] = field(default_factory=set)
    objections: dict[str, tuple[int, str]] = field(default_factory=dict)
    read: set[tuple[str, str]] = field(default_factory=set)
    turn: int = 0
    done: dict[str, int] = field(default_factory=dict)
    made: Counter[str] = field(default_factory=Counter)
    seen: set[str] = field(default_factory=set)
    author: str = ""
    flags: set[str] = field(default_factory=set)

    def observe(self, session: Session) -> None:
        """Note what was read and what was changed since the last time; of a failed call nothing."""
        for entry in session.entries:
            if entry.role != "result" or entry.call is None or entry.result is None:
                continue
            if entry.call.id in self.seen:
                continue
            self.seen.add(entry.call.id)
            key = key_of(entry.call.name, entry.call.arguments)
            self.made[key] += 1
            if went_wrong(entry.result):
                continue
            spec = session.spec(entry.call.name)
            if spec is None or spec.is_write:
                self.done[key] = self.turn
            else:
                self.read |= {(k, str(v)) for k, v in entry.call.arguments.items()}
        # Results come before it: what they tell of was done in the turn before.
        last = last_event(session.entries)
        if last is not None and last.role == "user":
            self.turn += 1
            self.made.clear()

    def settle_queue(self, entries: Sequence[Entry]) -> None:
        """Drop the queue unless what it waited for has just come and is no failure."""
        last = last_event(entries)
        came = (
            last is not None
            and last.role == "result"
            and last.call is not None
            and last.call.id == self.waiting_for
            and last.result is not None
            and not went_wrong(last.result)
        )
        if not came:
            self.queue.clear()


def went_wrong(result: ToolResult) -> bool:
    """Tell whether a call failed; on the τ² wire only the text says so."""
    return result.failed or result.text.lstrip()[:6].lower() == "error:"


def last_event(entries: Sequence[Entry]) -> Entry | None:
    """Return the latest entry that is no note."""
    return next((entry for entry in reversed(entries) if entry.role != "note"), None)


def information(entries: Sequence[Entry]) -> int:
    """Return a number that changes when the user says something or a tool answers."""
    return sum(len(entry.text) + 1 for entry in entries if entry.role == "user") + sum(
        1 for entry in entries if entry.role == "result"
    )


def scratchpad_of(session: Session) -> Scratchpad:
    """Return the session's scratchpad, a fresh one the first time."""
    if session.scratchpad is None:
        session.scratchpad = Scratchpad()
    pad: Scratchpad = session.scratchpad
    return pad
