"""The user's role: words that a customer who is not played would not say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evals.diagnosis.behaviour import Turn, sentences, short
from evals.user_check.model import Certainty, FaultKind, UserFault
from evals.user_check.reading import Heard

RECITED_WORDS: Final = 6
"""This many words in a row of instructions that address the user ("you", "your") are recited."""

_WORD: Final = re.compile(r"[a-z0-9$#@'’-]+")
_ADDRESSED: Final = frozenset({"you", "your", "you're", "you’re", "yourself"})
_PLAYED: Final = re.compile(
    r"\bas an ai\b|\b(?:language|ai) model\b|\brole[- ]?play|\bsimulat(?:ed|ion|or)\b|"
    r"\b(?:my|the) (?:scenario|script|persona|system prompt|task instructions?)\b|"
    r"\b(?:my|the) instructions (?:say|tell|do|don|state|specify|only|here)",
    re.IGNORECASE,
)
_AS_AGENT: Final = re.compile(
    r"\bhow (?:can|may) (?:i|we) (?:help|assist) you\b|"
    r"\b(?:is there )?(?:anything|something) else (?:i|we) can (?:help|assist|do for) you\b|"
    r"\bthank you for (?:calling|contacting|reaching out|choosing)\b|"
    r"\bi(?:['’]d| would|['’]ll| will|['’]m| am) (?:be )?(?:happy|glad) to (?:help|assist) you\b|"
    r"\b(?:i|we)(?:['’]ve| have)? (?:successfully )?(?:processed|cancell?ed|updated|booked|issued) "
    r"your\b|"
    r"\byour (?:request|order|reservation|booking|refund|return|exchange) (?:has been|was) "
    r"(?:successfully )?(?:processed|cancell?ed|updated|placed|booked|completed|issued)\b",
    re.IGNORECASE,
)
_AS_CALL: Final = re.compile(r"\{\s*\"(?:name|tool|function|action)\"\s*:\s*\"[^\"]+\"\s*,")
_SECRET: Final = re.compile(
    r"\b(?:do not|don['’]?t|never|not) (?:want to )?(?:reveal|disclose|mention|tell|share|give|provide)"
    r"\b(.*)",
    re.IGNORECASE,
)
_LATER: Final = re.compile(r"\b(?:unless|until|right away|at first|immediately)\b", re.IGNORECASE)
_COMMON: Final = frozenset(
    """
    a about agent all an and any are as at be but by can do for from have he her him his if in is it
    its me more much my not of on or she that the their them there they this to want was what which
    will with would you your yourself
    """.split()  # noqa: SIM905  (a list of one word a line is longer and no easier to read)
)


def revealed(heard: Heard) -> Iterator[UserFault]:
    """Yield where the user recited its instructions, or said what they tell it to keep to itself."""
    for turn in heard.said_by_user():
        recited = _recited(turn.read, heard.instructions)
        if recited is not None:
            reason = f"the user recited its instructions, which address it: {recited!r}"
            yield _fault(turn, "revealed", "proven", reason, recited)
        played = _PLAYED.search(turn.read)
        said_before = " ".join(heard.given_before(turn.message)).casefold()
        if played is not None and played[0].casefold() not in said_before:
            reason = f"the user showed that it is played: {played[0]!r}"
            yield _fault(
                turn, "revealed", "proven", reason, turn.read[max(0, played.start() - 60) :]
            )
    yield from _told_secrets(heard)


def agent_work(heard: Heard) -> Iterator[UserFault]:
    """Yield where the user spoke as the agent, or wrote a call of a tool."""
    for turn in heard.said_by_user():
        for what, pattern in (
            ("spoke as the agent does", _AS_AGENT),
            ("wrote a call of a tool", _AS_CALL),
        ):
            found = pattern.search(turn.read)
            if found is not None and found[0].casefold() not in heard.instructions.casefold():
                reason = f"the user {what}: {short(found[0])!r}"
                yield _fault(turn, "agent_work", "proven", reason, turn.read[found.start() :])


def _recited(text: str, instructions: str) -> str | None:
    """Return the longest run of words that stands in the instructions and addresses the user."""
    said, given = _WORD.findall(text.casefold()), _WORD.findall(instructions.casefold())
    known = f" {' '.join(given)} "
    best: list[str] = []
    start = 0
    for end in range(1, len(said) + 1):
        while start < end and f" {' '.join(said[start:end])} " not in known:
            start += 1
        run = said[start:end]
        if len(run) > max(len(best), RECITED_WORDS - 1) and not _ADDRESSED.isdisjoint(run):
            best = run
    return " ".join(best) or None


def _told_secrets(heard: Heard) -> Iterator[UserFault]:
    """Yield messages that hold most words of what the user was told not to tell."""
    for order in sentences(heard.instructions):
        secret = _SECRET.search(order)
        if secret is None:
            continue
        words = set(_WORD.findall(secret[1].casefold())) - _COMMON
        if len(words) < 2 or _LATER.search(order):
            continue
        for turn in heard.said_by_user():
            said = set(_WORD.findall(turn.read.casefold()))
            if words <= said:
                reason = f"the user told what it was to keep to itself: {short(order)!r}"
                yield _fault(turn, "revealed", "possible", reason, turn.read)


def _fault(turn: Turn, kind: FaultKind, certainty: Certainty, reason: str, quote: str) -> UserFault:
    return UserFault(
        kind=kind, certainty=certainty, reason=reason, quote=short(quote), message=turn.message
    )
