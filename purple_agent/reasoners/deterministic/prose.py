"""Prose: what a policy in plain words asks of this reasoner, and where it is not sure of it.

The reasoner does not understand prose. It finds the sentences that may restrict something, knows a few
forms of them for certain, and has doubts about all the others: what they are about cannot be told
from their words ("Amounts above 500 need a signature" names no tool).
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from purple_agent.case import Json
from purple_agent.reasoners.confirmation import asks_confirmation
from purple_agent.reasoners.deterministic.index import Tool
from purple_agent.reasoners.deterministic.words import acts_of, stem, stems, words_in

MOST_SENTENCES: Final = 2_000
MOST_KEPT: Final = 64

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_BULLET: Final = re.compile(r"^[\s*#-]*(?:\d+[.)]\s+)?[\s*#-]*")
_RESTRICTS: Final = re.compile(
    r"\b(?:must|only|not|never|cannot|can't|unless|except|requires?|required|needs?|"
    r"approv\w+|at most|at least|within|over|above|below|under|exceed\w*|more than|less than|"
    r"limit\w*|before|after|prohibit\w*|forbid\w*|forbidden|deny|refuse|escalate|until|"
    r"maximum|minimum|always|mandatory|no)\b",
    re.I,
)
# Narrower than `asks_confirmation`: what is taken for such a sentence is not doubted any more.
_CONFIRMING: Final = re.compile(
    r"\bexplicit(?:ly)?\b[^.\n]{0,200}\bconfirm|\bconfirm\w*\b[^.\n]{0,200}\b(?:before|prior)\b|"
    r"\bbefore\b[^.\n]{0,200}\bconfirm",
    re.I,
)
_TRANSFER: Final = re.compile(
    r"\b(?:transfer|escalate|hand)\b[^.\n]{0,200}\b(?:human|agent|supervisor)", re.I
)
_QUOTED_MESSAGE: Final = re.compile(
    r"\bsend (?:the|a|this) message\s+[\"'“]([^\"'“”\n]{5,200})[\"'”]", re.I
)
_FORBIDS: Final = re.compile(
    r"\b(?:not allowed to|not permitted to|must not|may not|cannot|can't|do not|don't|never)\s+"
    r"([a-z]+)",
    re.I,
)
_ONE_OF: Final = re.compile(r"\b(?:can|must|may) (?:only|either) be\b(.*)", re.I)
_HAS: Final = re.compile(
    r"\bmust (?:have|include|contain|state) (?:an? |the |its )?(\w+)\W*$", re.I
)
_EXISTING: Final = re.compile(
    r"^\W*only existing \w+ (?:can|may) (\w+)(?: an?| the)? \w+\W*$", re.I
)


@dataclass(frozen=True, kw_only=True)
class Prose:
    """A policy in plain words."""

    sentences: tuple[str, ...]
    asks_confirmation: bool
    allows_transfer: bool
    transfer_message: str
    """What the policy wants said after a transfer; empty where it does not say."""

    def doubt(self, tool: Tool, arguments: Mapping[str, Json]) -> str:
        """The first sentence that may restrict a call and is not understood; empty: there is none."""
        for sentence in self.sentences:
            if (
                _RESTRICTS.search(sentence)
                and not _CONFIRMING.search(sentence)
                and not _is_kept(sentence, tool, arguments)
            ):
                return sentence
        return ""

    def nearest(self, text: str) -> str:
        """The sentence that shares most words with a text; empty where it shares none."""
        wanted = set(stems(text))
        rated = [
            (len(wanted & set(stems(each))), -number) for number, each in enumerate(self.sentences)
        ]
        best = max(rated, default=(0, 0))
        return self.sentences[-best[1]] if best[0] > 0 else ""


def _is_kept(sentence: str, tool: Tool, arguments: Mapping[str, Json]) -> bool:
    """Whether a sentence has a form that is known, and the call keeps to it."""
    forbids = _FORBIDS.search(sentence)
    if forbids is not None:
        verb = stem(forbids.group(1).lower())
        return bool(acts_of(verb)) and verb != tool.verb and not acts_of(verb) & tool.verb_acts
    one_of = _ONE_OF.search(sentence)
    if one_of is not None:
        return _is_one_of(sentence[: one_of.start()], one_of.group(1), arguments)
    has = _HAS.search(sentence)
    if has is not None:
        named = {
            each.name for each in tool.parameters if stem(has.group(1)) in map(stem, each.words)
        }
        return all(arguments.get(name) for name in named)
    return _EXISTING.match(sentence) is not None


def _is_one_of(what: str, values: str, arguments: Mapping[str, Json]) -> bool:
    """Whether the arguments that a sentence names have one of the values that it quotes."""
    quoted = re.findall(r"[\"'“]([^\"'”“]+)[\"'”]", values)
    named = [
        name
        for name in arguments
        if set(map(stem, words_in(name))) & set(stems(what)) and not name.endswith("_id")
    ]
    return bool(quoted) and all(arguments[name] in quoted for name in named)


class Policies:
    """Policies read, the latest used ones kept."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Prose] = OrderedDict()

    def of(self, text: str) -> Prose:
        """A policy in plain words, read once."""
        if text not in self._kept:
            self._kept[text] = _prose(text)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(text)
        return self._kept[text]


def _prose(text: str) -> Prose:
    parts = [_BULLET.sub("", part).strip() for part in _SENTENCE.split(text)]
    message = _QUOTED_MESSAGE.search(text)
    return Prose(
        sentences=tuple(part for part in parts if part)[:MOST_SENTENCES],
        asks_confirmation=asks_confirmation(text),
        allows_transfer=bool(_TRANSFER.search(text)),
        transfer_message=message.group(1) if message else "",
    )
