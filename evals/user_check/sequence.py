"""Orders of the instructions about when to say something, and requests that they do not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from evals.diagnosis.behaviour import Turn, sentences, short
from evals.user_check.model import Certainty, UserFault
from evals.user_check.reading import Heard

_NUMBERS: Final = {
    "two": 2,
    "second": 2,
    "three": 3,
    "third": 3,
    "four": 4,
    "fourth": 4,
    "five": 5,
    "fifth": 5,
    "six": 6,
    "sixth": 6,
    "seven": 7,
    "seventh": 7,
    "eight": 8,
    "ten": 10,
    **{str(number): number for number in range(2, 21)},
}
_AFTER_MESSAGE: Final = re.compile(
    rf"\bafter (?:the )?({'|'.join(_NUMBERS)})(?:th)? (?:agent(?:['’]s)? )?"
    r"(?:exchange|interaction|message|repl(?:y|ie)|response|turn)s?\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
# "Provide A first. [...] If that doesn't work, say (exactly) 'B'": a value, then a quoted sentence.
_FALLBACK: Final = re.compile(
    r"\b(?:provide|give|say(?: that it is)?) ['\"“]?(#?\w*\d\w*)['\"”]? first\b.{0,200}?"
    r"\bif (?:that|this|it) (?:doesn['’]t work|does not work|fails),? (?:then )?"
    r"(?:say|respond|reply|answer)(?: exactly)?(?: with)? ['\"“](.{12,}?)['\"”](?!\w)",
    re.IGNORECASE | re.DOTALL,
)
_UNLESS_ASKED: Final = re.compile(
    r"\b(?:do not|don['’]t|never) (?:proactively )?(?:mention|reveal|bring|share|say|tell)\b"
    r"[^.()]*\b(?:unless|until)\b[^.()]*\b(?:asks?|asked)\b[^.()]*",
    re.IGNORECASE,
)
_KEEPS: Final = re.compile(r"\bkeep the (?:whole |entire )?order\b", re.IGNORECASE)
_MAY_CANCEL: Final = re.compile(
    r"\bcancel(?:l?ing|l?ation)?(?: of)? (?:(?:the|your|that|this|whole|entire|full|all|pending) )*"
    r"(?:orders?|it|all|everything|them)\b",
    re.IGNORECASE,
)
_CANCELS_ALL: Final = re.compile(
    r"\bcancel (?:the|my|that|this) (?:whole|entire|full) order\b", re.IGNORECASE
)
_MONEY_BACK: Final = re.compile(
    r"\b(?:cancel\w*|refund\w*|return\w*|store credit|money back|compensat\w*|get rid)\b",
    re.IGNORECASE,
)
_REQUESTS: Final = re.compile(
    r"\b(?:is it possible to|can you|could you|can i|could i|i['’]d like to|i want to|"
    r"is there any way to|please)\b(.*)",
    re.IGNORECASE | re.DOTALL,
)
_NEGATED: Final = re.compile(r"\b(?:not|never|without|rather|no)\b|n['’]t\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[a-z0-9]+")
_COMMON: Final = frozenset(
    [
        "a",
        "about",
        "also",
        "an",
        "and",
        "any",
        "are",
        "ask",
        "asks",
        "at",
        "check",
        "do",
        "for",
        "have",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "like",
        "me",
        "mention",
        "my",
        "of",
        "on",
        "or",
        "other",
        "say",
        "that",
        "the",
        "them",
        "these",
        "this",
        "those",
        "to",
        "use",
        "want",
        "wants",
        "was",
        "what",
        "with",
        "would",
        "you",
        "your",
    ]
)


def out_of_order(heard: Heard) -> Iterator[UserFault]:
    """Yield what the user said before its time, and requests against its instructions."""
    yield from _before_its_message(heard)
    yield from _fallback_first(heard)
    yield from _told_unasked(heard)
    yield from _cancelled_what_it_keeps(heard)
    yield from _asked_for_money(heard)


def _before_its_message(heard: Heard) -> Iterator[UserFault]:
    """Proven where the words of the request stand in a question before the agent's nth message."""
    for order in sentences(heard.instructions):
        found = _AFTER_MESSAGE.search(order)
        if found is None:
            continue
        wanted = _content(found[2])
        for turn in heard.said_by_user():
            early = _messages_before(heard, turn) < _NUMBERS[found[1].casefold()]
            shared = wanted & _content(turn.read)
            if early and len(shared) >= 3 and 2 * len(shared) > len(wanted):
                # An agent that raised it may have asked for it.
                raised = shared & _content(" ".join(_agent_before(heard, turn)))
                certainty: Certainty = "possible" if len(raised) >= 2 else "proven"
                yield _fault(turn, certainty, "said too early what it was told to say later", order)


def _fallback_first(heard: Heard) -> Iterator[UserFault]:
    """Proven where the quoted second answer came although the first was never given."""
    found = _FALLBACK.search(heard.instructions)
    if found is None:
        return
    first, second = (" ".join(_WORD.findall(each.casefold())) for each in found.groups())
    before = ""
    for turn in heard.said_by_user():
        before += f" {' '.join(_WORD.findall(turn.read.casefold()))}"
        if first in before:
            return
        if second in before:
            yield _fault(turn, "proven", "gave its second answer without the first", found[0])
            return


def _told_unasked(heard: Heard) -> Iterator[UserFault]:
    """Possible where nothing that the agent said touches the words: a question may imply them."""
    for order in sentences(heard.instructions):
        rule = _UNLESS_ASKED.search(order)
        if rule is None:
            continue
        wanted = _content(order.replace(rule[0], " "))
        for turn in heard.said_by_user():
            shared = wanted & _content(turn.read)
            heard_of = _content(" ".join(_agent_before(heard, turn)))
            if len(shared) >= 2 and 2 * len(shared) > len(wanted) and not wanted & heard_of:
                yield _fault(turn, "possible", "told what it was to tell when asked", order)


def _cancelled_what_it_keeps(heard: Heard) -> Iterator[UserFault]:
    """Proven where the instructions keep the order and nowhere let it be cancelled."""
    kept = _KEEPS.search(heard.instructions)
    if kept is None or _MAY_CANCEL.search(heard.instructions):
        return
    for turn in heard.said_by_user():
        for sentence in sentences(turn.read):
            if _CANCELS_ALL.search(sentence) and not _asks_or_negates(sentence):
                yield _fault(turn, "proven", "cancelled the order that it was to keep", kept[0])


def _asked_for_money(heard: Heard) -> Iterator[UserFault]:
    """Possible: an impersonal "be insistent" may cover a request for money that nobody named."""
    if _MONEY_BACK.search(heard.instructions):
        return
    for turn in heard.said_by_user():
        if _MONEY_BACK.search(" ".join(_agent_before(heard, turn))):
            return
        for sentence in sentences(turn.read):
            asked = _REQUESTS.search(sentence)
            if (
                asked
                and _MONEY_BACK.search(asked[1])
                and not _NEGATED.search(sentence[: asked.start()])
            ):
                yield _fault(
                    turn,
                    "possible",
                    "asked for what neither its instructions nor the agent named",
                    asked[0],
                )
                return


def _asks_or_negates(sentence: str) -> bool:
    return sentence.rstrip().endswith("?") or _NEGATED.search(sentence) is not None


def _agent_before(heard: Heard, turn: Turn) -> list[str]:
    return [
        each.text
        for each in heard.behaviour.turns
        if each.speaker == "assistant" and each.message < turn.message
    ]


def _messages_before(heard: Heard, turn: Turn) -> int:
    return len(_agent_before(heard, turn))


def _content(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold())) - _COMMON


def _fault(turn: Turn, certainty: Certainty, what: str, order: str) -> UserFault:
    return UserFault(
        kind="condition",
        certainty=certainty,
        reason=f"the user {what}: {short(order)!r}",
        quote=short(turn.read),
        message=turn.message,
    )
