"""Conduct: what one conversation shows, and what can be read from it by rules."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evals.diagnosis.model import CallDifference, Departure

Speaker = Literal["assistant", "user"]

REPEATS = 3
"""So many equal calls with equal results, or equal texts, are going round in circles."""
_READ_CHARS = 20_000
"""Of one text; what an agent sends may be long."""

_REFUSES = re.compile(
    r"\b(?:can ?not|can['’]t|unable to|not able to|won['’]t be able|not possible|not allowed|"
    r"not permitted|not eligible|against (?:our|the|company) polic|do(?:es)? not allow|"
    r"doesn['’]t allow|must decline|have to decline|transfer(?:red|ring)? you)\b",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"(?:anything|something) else|else (?:i|we) can|(?:further|more) (?:help|assist)|"
    r"(?:any|other) (?:other|further|more|questions)",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?|\bconfirm\b|\(yes", re.IGNORECASE)
_AGREES = re.compile(
    r"\W*(?:yes|yeah|yep|sure|ok|okay|please|go ahead|proceed|i confirm|confirmed|correct|"
    r"that(?:['’]s| is) (?:right|correct|fine|ok)|sounds good|i agree|perfect)\b",
    re.IGNORECASE,
)
_STOP_TOKEN = re.compile(r"###[A-Z-]+###")
_OUT_OF_SCOPE = "###OUT-OF-SCOPE###"
_CALL_VERBS = frozenset(
    {"check", "run", "set", "toggle", "can", "get", "grant", "make", "reset", "reseat", "request"}
)
"""Words of tool names that do not say what the tool is about."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """Something that was said; `message` is its place in the conversation, from 0."""

    speaker: Speaker
    text: str
    message: int


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call that was carried out, with what it was answered."""

    name: str
    arguments: Mapping[str, Any]
    requestor: Speaker = "assistant"
    error: bool = False
    result: str = ""
    writes: bool = False
    """It is a call of a tool that changes state."""
    message: int | None = None


@dataclass(frozen=True, kw_only=True)
class Conduct:
    """One conversation.

    Args:
        turns: What was said, in order.
        calls: What was called, in order.
        instructions: All that the user was told to want, know and say.
        handing_over: The tools that hand the user to a person.
        repairs: How often a reply had to be repaired before it could be read.
    """

    turns: Sequence[Turn] = ()
    calls: Sequence[Call] = ()
    instructions: str = ""
    handing_over: frozenset[str] = frozenset({"transfer_to_human_agents"})
    repairs: int = 0

    def said_by(self, speaker: Speaker) -> list[str]:
        """The texts of one side, each as far as it is looked at."""
        return [turn.text[:_READ_CHARS] for turn in self.turns if turn.speaker == speaker]


@dataclass(frozen=True, kw_only=True)
class Path:
    """The conversation beside its gold path.

    Args:
        differences: The calls in which they differ.
        departure: Where the world left the gold path for good.
        gold_writes: How many state-changing calls the gold path has.
        gold_names: The tools that the gold path calls.
        failed: The places in `differences` of calls that were made and failed.
        reads: The places in `differences` of calls that change nothing.
        other_order: All gold calls were made, and had another effect in this order.
        unmet_by_gold: The places, among the checks of ENV_ASSERTION, of those that the gold path
            itself does not fulfil.
    """

    differences: Sequence[CallDifference] = ()
    departure: Departure | None = None
    gold_writes: int = 0
    gold_names: frozenset[str] = frozenset()
    failed: frozenset[int] = frozenset()
    reads: frozenset[int] = frozenset()
    other_order: bool = False
    unmet_by_gold: Sequence[int] = ()


def refusal(conduct: Conduct) -> str | None:
    """How the agent declined to act, as far as words tell; None where it did not."""
    over = next((c.name for c in conduct.calls if c.name in conduct.handing_over), None)
    if over is not None:
        return f"the agent called {over}"
    for text in reversed(conduct.said_by("assistant")):
        for sentence in _sentences(text):
            if _REFUSES.search(sentence):
                return f"the agent said {_short(sentence)!r}"
    return None


def repeated_call(conduct: Conduct, *, in_a_row: bool) -> tuple[Call, int] | None:
    """The call that was made most often with the same result, where that is `REPEATS` or more.

    Args:
        conduct: The conversation.
        in_a_row: Other calls in between end the count.
    """
    keys = [_key(call) for call in conduct.calls]
    counts = _longest_runs(keys) if in_a_row else Counter(keys)
    if not counts:
        return None
    key, count = max(counts.items(), key=lambda item: (item[1], item[0]))
    return (conduct.calls[keys.index(key)], count) if count >= REPEATS else None


def repeated_text(conduct: Conduct, speaker: Speaker) -> tuple[str, int] | None:
    """What one side said most often, where that is `REPEATS` times or more."""
    texts = Counter(" ".join(text.casefold().split()) for text in conduct.said_by(speaker))
    texts.pop("", None)
    if not texts:
        return None
    text, count = max(texts.items(), key=lambda item: (item[1], item[0]))
    return (_short(text), count) if count >= REPEATS else None


def written_call(conduct: Conduct, names: Iterable[str]) -> str | None:
    """A tool that the agent only wrote a call of, as text; None where there is none."""
    for name in sorted(set(names)):
        written = re.compile(rf"\b{re.escape(name)}\s*\(|[\"']{re.escape(name)}[\"']")
        called = any(call.name == name for call in conduct.calls)
        if not called and any(written.search(text) for text in conduct.said_by("assistant")):
            return name
    return None


def user_stopped_early(conduct: Conduct) -> str | None:
    """How the user ended the conversation before it was its turn to; None where it did not."""
    if not conduct.turns or conduct.turns[-1].speaker != "user":
        return None
    last = conduct.turns[-1].text[:_READ_CHARS]
    words = _STOP_TOKEN.sub("", last).strip()
    if words == last.strip():
        return None
    if _OUT_OF_SCOPE in last:
        return "the user found nothing in its instructions to answer with"
    asked = [turn.text[:_READ_CHARS] for turn in conduct.turns[:-1] if turn.speaker == "assistant"]
    users = sum(turn.speaker == "user" for turn in conduct.turns)
    if users == 1 and not any(call.requestor == "user" for call in conduct.calls):
        return "the user ended the conversation with its first words"
    if asked and _ASKS.search(asked[-1]) and not _CLOSES.search(asked[-1]):
        if not words:
            return f"the user hung up on the question {_short(asked[-1])!r}"
        if _AGREES.match(words):
            return f"the user agreed and hung up in one message: {_short(last)!r}"
    return None


def user_did_not_follow(conduct: Conduct, missing: CallDifference) -> str | None:
    """How the agent asked for a call that the user never made; None where it did not ask."""
    if any(c.name == missing.name and c.requestor == "user" for c in conduct.calls):
        return None
    last_user = max((t.message for t in conduct.turns if t.speaker == "user"), default=-1)
    for turn in conduct.turns:
        if turn.speaker == "assistant" and turn.message < last_user:
            asked = _sentence_asking_for(missing.name, turn.text[:_READ_CHARS])
            if asked is not None:
                return f"the user was asked {asked!r} and did not call {missing.name}"
    return None


def user_misled(conduct: Conduct, call: CallDifference) -> str | None:
    """How the user, and not the agent, is behind the arguments of a call; None where it is not."""
    made, expected = call.arguments or {}, call.expected or {}
    if call.requestor == "user" and made.keys() - expected.keys():
        unknown = ", ".join(sorted(made.keys() - expected.keys()))
        return f"the user called {call.name} with {unknown}, which nobody asked for"
    for name in call.differing:
        given, wanted = _plain(made.get(name)), _plain(expected.get(name))
        if given is None or wanted is None:
            continue
        by_agent = " ".join(conduct.said_by("assistant"))
        if call.requestor == "user" and wanted in by_agent and given not in by_agent:
            return f"the user was told {name}={wanted!r} and called {call.name} with {given!r}"
        by_user = " ".join(conduct.said_by("user"))
        told = conduct.instructions
        if given in by_user and given not in told and wanted in told and wanted not in by_user:
            return f"the user said {given!r} where its instructions say {wanted!r}"
    return None


def _sentence_asking_for(tool: str, text: str) -> str | None:
    """The sentence that asks the user for what a tool does: by its name, or in its words."""
    if re.search(rf"\b{re.escape(tool)}\b", text):
        return _short(text)
    words = [word for word in tool.split("_") if word not in _CALL_VERBS]
    for sentence in _sentences(text):
        said = sentence.casefold()
        asks = "please" in said or "could you" in said or "can you" in said
        if words and asks and all(re.search(rf"\b{word}\b", said) for word in words):
            return _short(sentence.strip())
    return None


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s|\n", text)


def _plain(value: Any) -> str | None:
    """A value that can be looked for in what was said; None where it is too short, or composed."""
    text = str(value) if isinstance(value, str | int | float) else ""
    return text if len(text) >= 3 and not isinstance(value, bool) else None


def _key(call: Call) -> tuple[str, ...]:
    arguments = json.dumps(dict(call.arguments), sort_keys=True, default=str)
    return call.requestor, call.name, arguments, call.result


def _longest_runs(keys: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    longest: dict[tuple[str, ...], int] = {}
    run = 0
    for index, key in enumerate(keys):
        run = run + 1 if index and keys[index - 1] == key else 1
        longest[key] = max(longest.get(key, 0), run)
    return longest


def _short(text: str) -> str:
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= 120 else f"{one_line[:117]}..."
