"""turns_of_messages: a log of messages as turns, as calls where they are nested as calls are. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evals.attribution.turns import MAX_TURNS, Turn, TurnKind
from evals.trace import USER, Utterance

# A prompt in which the framework AG2 hands the first speaker the task and its manager's plan.
_BRIEFING = re.compile(
    r"\A.*?# General Task\s(?P<task>.*?)\n#+ [^\n]*suggestions from manager(?P<plan>.*)\Z",
    re.DOTALL | re.IGNORECASE,
)
_LAST_SECTION = re.compile(r"\n#+ Constraints[^\n]*\n(?:[ \t]*(?:[-*]|\d+\.)[^\n]*(?:\n|\Z)|\s)*")
_EXECUTOR = re.compile(r"\bexit ?code\b|no code .{0,40} to execute", re.IGNORECASE)


def turns_of_messages(messages: Sequence[Utterance]) -> list[Turn]:
    """Return the turns of a log of messages, notes of a speaker to itself included.

    Where each message either asks somebody or answers who asked, the turns are requests and replies.
    """
    tools = _executors(messages)
    if not tools and (called := _as_calls(messages[:MAX_TURNS])) is not None:
        return called
    found: list[Turn] = []
    for message in messages[:MAX_TURNS]:
        briefing = _BRIEFING.match(message.text) if not found else None
        if briefing is not None:
            task = briefing["task"].strip()
            found.append(Turn(step_id=message.step_id, agent=USER, kind="given", text=task))
            plan, own = _plan_and_own(briefing["plan"])
            found.append(
                Turn(
                    step_id=message.step_id,
                    agent=message.speaker,
                    kind="message",
                    text=own,
                    plan=plan,
                )
            )
            continue
        kind: TurnKind = "given" if message.speaker == USER else "message"
        if message.speaker in tools:
            kind = "tool"
        found.append(
            Turn(step_id=message.step_id, agent=message.speaker, kind=kind, text=message.text)
        )
    return found


def _plan_and_own(text: str) -> tuple[str, str]:
    """Split a briefing into the manager's plan and what the speaker added below it."""
    last = _LAST_SECTION.search(text)
    return (text, "") if last is None else (text[: last.end()], text[last.end() :].strip())


def _executors(messages: Iterable[Utterance]) -> set[str]:
    """Return the speakers who only ever report how a program ran: tools, not agents."""
    said: dict[str, list[str]] = defaultdict(list)
    for message in messages:
        said[message.speaker].append(message.text)
    return {
        speaker
        for speaker, texts in said.items()
        if all(_EXECUTOR.search(text[:200]) for text in texts)
    }


@dataclass
class _Open:
    """A request that has not been answered."""

    asker: str
    asked: str
    text: str
    heard: list[str] = field(default_factory=list)
    below: set[str] = field(default_factory=set)


def _as_calls(messages: Sequence[Utterance]) -> list[Turn] | None:
    """Return the turns of messages that are requests and their replies; None if they are not.

    A message goes to the receiver that it names, else to the next speaker. It answers if its speaker
    was the last to be asked, by that receiver. In a chat in which all talk to all, requests would
    stay open.
    """
    found: list[Turn] = []
    waiting: list[_Open] = []
    for at, message in enumerate(messages):
        speaker, later = message.speaker, messages[at + 1 :]
        if waiting and waiting[-1].asked != speaker:
            return None
        asker = waiting[-1].asker if waiting else USER
        receiver = message.receiver or (later[0].speaker if later else asker)
        if speaker == receiver:
            return None
        if not waiting or receiver != asker:
            waiting.append(_Open(asker=speaker, asked=receiver, text=message.text))
            kind: TurnKind = "given" if speaker == USER else "request"
            found.append(
                Turn(
                    step_id=message.step_id,
                    agent=speaker,
                    kind=kind,
                    text=message.text,
                    hearer=receiver,
                )
            )
            continue
        call = waiting.pop()
        found.append(
            Turn(
                step_id=message.step_id,
                agent=speaker,
                kind="answer" if asker == USER else "reply",
                text=message.text,
                silent=not message.text.strip(),
                stands_over=frozenset(call.below),
                hearer=asker,
                asked=call.text,
                heard=call.heard,
            )
        )
        if waiting:
            waiting[-1].heard.append(message.text)
            waiting[-1].below |= {message.step_id, *call.below}
    # A log may break off before its leader has answered, or hold no user whom it answers.
    return found if len(waiting) < 2 else None
