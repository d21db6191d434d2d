"""Tokens of a short message: its words, the ends of its clauses, and the names and numbers in it.

Names and numbers are put together with the word that says what they are: "task 16", "5 trials" and
"seed 7" are one token each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from adk_agent.core.plan import BUILTIN_PREFIX
from adk_agent.requests.agents import BUNDLED_AGENTS, BUNDLED_TEAMS, TEAM_PREFIX
from adk_agent.requests.language.vocabulary import COMMON_SPLITS
from tau_bridge.a2a.address import AddressError, AgentAddress


@dataclass(frozen=True)
class Token:
    """A word, the end of a clause (`end`), or a name or number, whose kind says what it is."""

    kind: str
    text: str


_WRITTEN_OUT = (
    (r"(?<!\S)w/o(?!\w)", "without"),
    (r"(?<!\S)w/(?!\w)", "with"),
    (r"(?<!\S)n(?!\S)", "and"),
    (r"(?<!\S)u(?!\S)", "you"),
    (r"(?<!\S)nvm\b", "never mind"),
    (r"(?<!\S)n[or]\. ?(?=[0-9])", "number "),
    (r"\b(did|does|do|is|are|was|were|has|have)n'?t\b", r"\1 not"),
    (r"\b(what|how|where|who|that|it|there|which|here|when)'?s\b(?<!\bits)", r"\1 is"),
    (r"\bcan'?t\b", "can not"),
    (r"\blet'?s\b", "let us"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'d\b", " would"),
    (r"'m\b", " am"),
    (r"'s\b", ""),
    (r"[^\S\n]+", " "),
)
_QUOTES = str.maketrans({**dict.fromkeys("‘’ʼ`´", "'"), **dict.fromkeys('“”„«»"*', " ")})
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_FIRST_MARK = 0xE000
_NAMED = re.compile(
    r"(?P<run>\b[0-9]{8}-[0-9]{6}-[0-9a-f]{6}\b)"
    r"|(?P<agent>\bhttps?://[^\s,;<>()\"'`]+|\bbuiltin:[\w:+@.-]*\w)"
    r"|(?P<task>\[\w+\][^\s`\"']*\[[A-Za-z]+:\w+\])"
)
_TOKEN = re.compile(
    r"(?P<named>[\ue000-\uf8ff])"
    r"|(?P<share>[0-9]+(?:\.[0-9]+)?\s?(?:%|percent\b)|[0-9]+(?:/| (?:out )?of )[0-9]+\b)"
    r"|(?P<decimal>[0-9]*\.[0-9]+)"
    r"|(?P<minus>(?<!\w)-[0-9]\S*)"
    r"|(?P<number>[0-9]+)(?![\w^])"
    r"|@?(?P<word>[^\W\d_](?:[\w'^@/-]|\.(?=\w))*|[=#])"
    r"|(?P<end>[.!?;:,()\n|—–-]+)"
    r"|(?P<other>\w\S*|[<>{}\[\]+&@$/\\^~])"
)
_NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "fifty": 50, "hundred": 100,
    "one": 1, "eleven": 11, "sixteen": 16, "forty": 40,
}  # fmt: skip
_COUNTED = {
    "num_trials": "trial trials repetition repetitions repeats attempts tries times_each",
    "num_tasks": "task tasks scenario scenarios exercise exercises",
    "max_concurrency": "at_a_time in_parallel at_once concurrently parallel",
    "num_runs": "runs evaluations",
    "max_steps": "steps max_steps",
    "share": "points",
}
_LABELLED = {
    "seed": "seed",
    "num_trials": "trials num_trials",
    "num_tasks": "num_tasks",
    "max_concurrency": "concurrency max_concurrency",
    "max_steps": "max_steps",
    "task": "task scenario exercise case number #",
    "trial": "trial",
    "run": "run evaluation",
    "num_runs": "last latest",
}
_BETWEEN = frozenset(("of", "is", "=", "#", "number", "no", "nr", "id", "to", "at"))
_ORDINALS = {"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5"}
_ONE_AT_A_TIME = frozenset(("sequentially", "one_at_a_time", "one_by_one", "one_after_the_other"))


def _kinds(table: Mapping[str, str]) -> dict[str, str]:
    return {word: kind for kind, listed in table.items() for word in listed.split()}


_COUNTS, _LABELS = _kinds(_COUNTED), _kinds(_LABELLED)


def tokens_of(
    text: str, phrases: re.Pattern[str], domains: Collection[str], registered: Mapping[str, str]
) -> list[Token]:
    """Return the tokens of a message.

    Args:
        text: The message.
        phrases: Finds the words, in lower case, that are one token where they stand together.
        domains: The names of the domains.
        registered: Addresses of registered agents, by name.
    """
    named: list[Token] = []

    def stash(match: re.Match[str]) -> str:
        named.append(Token(str(match.lastgroup), match[0].rstrip(".!?:")))
        return f" {chr(_FIRST_MARK + len(named) - 1)} "

    plain = _NAMED.sub(stash, _PRIVATE.sub("", text)).lower().translate(_QUOTES)
    for short, long in _WRITTEN_OUT:
        plain = re.sub(short, long, plain)
    joined = phrases.sub(lambda match: match[0].replace(" ", "_"), plain)
    tokens = []
    for match in _TOKEN.finditer(joined):
        kind = str(match.lastgroup)
        token = Token(kind, match[kind])
        if kind == "named":
            token = _normal(named[ord(token.text) - _FIRST_MARK])
        tokens.append(_word(token.text, domains, registered) if kind == "word" else token)
    return _put_together(_with_numbers(tokens))


def _normal(token: Token) -> Token:
    if token.kind != "agent" or token.text.startswith(BUILTIN_PREFIX):
        return token
    try:
        return Token("agent", AgentAddress.parse(token.text).url)
    except AddressError:
        return Token("other", token.text)


def _word(word: str, domains: Collection[str], registered: Mapping[str, str]) -> Token:
    if word in registered:
        return Token("agent", registered[word])
    if word in BUNDLED_TEAMS:
        return Token("agent", f"{BUILTIN_PREFIX}{TEAM_PREFIX}{word}")
    if word in BUNDLED_AGENTS:
        return Token("agent", BUILTIN_PREFIX + word)
    if "^" in word or "@" in word:
        return Token("measure", word)
    if "_" in word and word[-1].isdigit():
        return Token("task", word)
    return Token("domain" if word in domains else "word", word)


def _with_numbers(tokens: Iterable[Token]) -> list[Token]:
    """Turn number words into numbers; `one` only counts where it stands before what is counted."""
    found = list(tokens)
    for at, token in enumerate(found):
        counts = token.text != "one" or any(
            after.text in _COUNTS for after in found[at + 1 : at + 3]
        )
        if token.kind == "word" and token.text in _NUMBERS and counts:
            found[at] = Token("number", str(_NUMBERS[token.text]))
    return found


def _put_together(tokens: list[Token]) -> list[Token]:
    """Join numbers and names with the words that say what they are."""
    done: list[Token] = []
    at = 0
    while at < len(tokens):
        token, rest = tokens[at], tokens[at + 1 :]
        joined = _of_two(token, rest[0]) if rest else None
        if joined is not None:
            done.append(joined)
            at += 2
        elif token.kind == "number" and (kind := _counted(rest)):
            between = rest[:1] if rest[0].kind == "domain" else []
            done += [*between, Token(kind, token.text)]
            at += 2 + len(between)
        elif (skipped := _labelled(token, rest)) is not None:
            named = Token(_LABELS.get(token.text, "task"), rest[skipped].text)
            done += [token, named] if token.kind == "domain" else [named]
            at += 2 + skipped
        else:
            done.append(Token("max_concurrency", "1") if token.text in _ONE_AT_A_TIME else token)
            at += 1
    return done


def _of_two(first: Token, second: Token) -> Token | None:
    if first.kind == "domain" and second.text in ("run", "evaluation"):
        return Token("run", first.text)  # a run may be named by its domain
    if first.text in ("rather_than", "instead_of") and second.kind in ("number", "domain", "agent"):
        return Token("old", second.text)
    if first.text in _ORDINALS and second.text == "trial":
        return Token("trial", _ORDINALS[first.text])
    is_split = first.text in COMMON_SPLITS and second.text == "split"
    return Token("split", first.text) if is_split else None


def _counted(after: list[Token]) -> str | None:
    """Return what a number counts, perhaps with a domain between: `5 trials`, `5 shop tasks`."""
    if len(after) > 1 and after[0].kind == "domain":
        return "num_tasks" if _COUNTS.get(after[1].text) == "num_tasks" else None
    if len(after) > 1 and _COUNTS.get(after[1].text) == "max_concurrency":
        return "max_concurrency"
    return _COUNTS.get(after[0].text) if after else None


def _labelled(label: Token, after: list[Token]) -> int | None:
    """Return how many tokens stand between a label and its number; None if it labels none."""
    if label.kind != "domain" and (label.kind != "word" or label.text not in _LABELS):
        return None
    skipped = 0
    if label.kind == "word":
        while skipped < len(after) and after[skipped].text in _BETWEEN:
            skipped += 1
    if skipped == len(after) or after[skipped].kind != "number" or _counted(after[skipped + 1 :]):
        return None
    return skipped
