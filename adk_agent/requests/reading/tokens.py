"""Tokens: turns the words of a sentence that matter for tasks into one letter per kind.

`five shop and all bank tasks` becomes `nDaADT`:

    n number   r range (3-7)   i literal id   # "id", "number"   D domain   T tasks   t task
    A all      e each, per     p of, from, in c comma, bracket   a and      v or      : colon
    . end of a sentence        u an agent         o any other word
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from adk_agent.requests.reading.addresses import AGENT_MARK
from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import words
from tau_bridge.wording import TASK_NOUN

ID_MARK = "\ue001"
"""Replaces a literal task id that is not a single word."""

_BRACKETED = re.compile(r"\[\w+\][^\s\[\]`\"']*\[[A-Za-z]+:\w+\]")
_LIKE_AN_ID = re.compile(r"[0-9]|task")
_ASSIGNED = re.compile(r"\s*[:=]")
_KEYS = frozenset({"num_tasks", "task_ids", "task_id", "number_of_tasks", "pass_hat_k"})

_AGENT_NOUN = (
    r"(?:agents?|bots?|chat-?bots?|assistants?|servers?|services?|endpoints?|compan(?:y|ies)|"
    r"customers?|teams?|system|app|application|product|startup|business|industry|department)"
)
_TASK_COUNT = re.compile(
    r"(?:--)?\b(?:(?:num|number|n|count|total)[\s_-]*(?:of[\s_-]+)?tasks?|tasks?[\s_-]+count)\s*"
    r"(?:[:=]|is|to)?\s*(?P<n>-?[0-9]+(?:\.[0-9]+)?)"
)
_BETWEEN = re.compile(r"\bbetween\s+([0-9]+)\s+and\s+([0-9]+)")

_FIRST = re.compile(r"\bfirst\s+\Z")
_FIRST_AFTER = re.compile(r"\s+first\b")

_SIGNS = {
    **dict.fromkeys(",;()|/•", "c"),
    **dict.fromkeys(":=-–—", ":"),
    **dict.fromkeys("&+", "a"),
}
_LETTERS = {
    **dict.fromkeys(("all", "entire", "whole", "complete", "full"), "A"),
    **dict.fromkeys(("each", "every", "per"), "e"),
    **dict.fromkeys(("of", "from", "in", "on", "for", "within", "across"), "p"),
    **dict.fromkeys(("and", "plus"), "a"),
    "or": "v",
    **dict.fromkeys(("id", "ids", "number", "numbers", "no", "nr"), "#"),
}
_SILENT = frozenset(
    words(
        "the a an my our your first just exactly only those these following at up least "
        "max maximum domain domains benchmark benchmarks bench different "
        "other separate please both out suite set over against x"
    )
)


@dataclass
class Token:
    """A word that matters and its kind."""

    letter: str
    text: str
    first: bool = False
    """True for a number next to `first`: `the first 5 shop tasks`."""


_ADJECTIVE = (
    r"\bDOMAINs?(?:'s)?[\s-]+(?:(?:customer|support|booking|service|shopping|"
    rf"reservation|help|chat|sales)[\s-]+){{0,2}}(?:based\s+)?{_AGENT_NOUN}\b"
)
"""A domain that only describes an agent: `the shop assistant`."""
_DECLINED = (
    r"\b(?:not|no|without|except|excluding|never|instead\s+of|rather\s+than|skip|exclude|"
    r"leave\s+out|avoid|ignore|don't|do\s+not)\s+"
    r"(?:(?:on|in|from|for|the|any|use|run|include|play|want|test|of|all)\s+)*"
    r"DOMAIN\b(?:\s*(?:,|and|or|nor)\s*(?:the\s+|on\s+)?DOMAIN\b)*"
    rf"(?:\s+(?:domains?|{TASK_NOUN}))?"
)
"""Domains that are not to be played."""
_FIRST_ONE = (
    rf"\b(?:first|1st)\s+(?=DOMAIN\s+{TASK_NOUN}\b(?<!s)|"
    rf"{TASK_NOUN}\b(?<!s)\s+(?:of|in|from)\s+(?:the\s+)?DOMAIN\b)"
)
"""`first` before a single task."""
_TOKEN = (
    r"(?P<range>(?<![\w.])(?:#\s*)?[0-9]+\s*(?:-|to\b|through\b|thru\b|until\b|till\b|"
    r"\.\.+)\s*(?:#\s*)?[0-9]+(?![\w]))"
    r"|(?P<number>(?<![\w.])-?[0-9]+(?:\.[0-9]+)?(?!\w))"
    # Unlike other words, a name may contain digits, underscores and hyphens.
    r"|(?P<name>(?<!\w)NAME(?!\w|'[a-z]))"
    rf"|(?P<literal>{ID_MARK}|\b[a-z0-9]+(?:_[a-z0-9]+)+\b)"
    rf"|(?P<agent>{AGENT_MARK})"
    r"|(?P<word>[^\W\d_]+(?:'[a-z]+)?|\w+)"
    r"|(?P<end>[.!?](?=\s|$)|\n+)"
    r"|(?P<sign>[,;()|/&+:=#–—•]|(?<=\s)-(?=\s))"
)


def take_literal_ids(text: str) -> tuple[str, list[str]]:
    """Replace each bracketed id (`[a]b[c:d]`) with a mark; return the text and the ids."""
    ids = _BRACKETED.findall(text)
    return _BRACKETED.sub(f" {ID_MARK} ", text), ids


def prepared(text: str, vocabulary: Vocabulary) -> str:
    """Remove domains that are adjectives or declined, and write counts in one form."""
    text = vocabulary.pattern(_ADJECTIVE).sub(" something ", text)
    text = vocabulary.pattern(_DECLINED).sub(" . ", text)
    text = _TASK_COUNT.sub(r" \g<n> tasks ", text)
    text = vocabulary.pattern(_FIRST_ONE).sub("first 1 ", text)
    return _BETWEEN.sub(r"\1 to \2", text)


def tokens_of(text: str, literal_ids: Sequence[str], vocabulary: Vocabulary) -> list[Token]:
    """Return the tokens of a prepared text, with the `literal_ids` in place of the marks."""
    tokens: list[Token] = []
    waiting = list(literal_ids)
    for match in vocabulary.pattern(_TOKEN).finditer(text):
        kind, found = str(match.lastgroup), match[0]
        if kind == "literal" and found == ID_MARK:
            tokens.append(Token("i", waiting.pop(0) if waiting else ""))
        elif kind == "literal":
            tokens += _from_key(found, text[match.end() :])
        elif kind == "name":
            tokens += [Token("D", found)] if found in vocabulary.domains else []
        elif kind == "word":
            letter = _letter(found)
            tokens += [Token(letter, found)] if letter else []
        else:
            letter = {"range": "r", "number": "n", "end": ".", "agent": "u"}.get(
                kind
            ) or _SIGNS.get(found, "#")
            first = _FIRST.search(text, 0, match.start()) or _FIRST_AFTER.match(text, match.end())
            tokens.append(Token(letter, found, first=letter == "n" and first is not None))
    return tokens


def _from_key(found: str, following: str) -> list[Token]:
    """Read a word with underscores: the key `task_ids`, another key, or a task's id."""
    if found in {"task_ids", "task_id"}:
        return [Token("T", found), Token("#", found)]
    is_id = _LIKE_AN_ID.search(found) and found not in _KEYS and not _ASSIGNED.match(following)
    return [Token("i" if is_id else "o", found)]


def _letter(word: str) -> str:
    if re.fullmatch(TASK_NOUN, word):
        return "T" if word.endswith("s") else "t"
    return _LETTERS.get(word, "" if word in _SILENT else "o")
