"""Phrases: a small notation for word patterns, and the sentence that they are taken out of.

A pattern is a row of lower-case words and signs, of which `( ) | ? *` mean what they mean in regular
expressions, and of upper-case names that stand for kinds of tokens or for other patterns:

    N number   D domain   T noun for tasks   A agent   M name of a model   I id   Q quantity
    W any word that is not used yet   ANY any token that is not used yet   OPEN a parenthesis
    CLASS a token with a meaning, or the end of a clause   !x no x follows

`seed FILL* N` matches "seed 7", "seed = 7" and "seed set to 7".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from adk_agent.requests.language import lexicon
from adk_agent.requests.language.tokens import Token

_LETTERS = {
    "number": "N",
    "domain": "D",
    "noun": "T",
    "agent": "A",
    "model": "M",
    "id": "I",
    "odd": "X",
}
_USED = "·"

_MACROS = {
    "FILL": "(the|a|an|of|to|set|is|be|as|:|at|number|value|with|should|my|your|our|their|fixed)",
    "DET": "(the|a|an|my|our|your|any|its|their|his|her|these|this|that|those|all|and)",
    "TRIALS": "(" + "|".join(sorted(lexicon.TRIAL_NOUNS)) + ")",
    "TALK": "(conversation|conversations|dialogue|dialogues|chat|chats|call|calls|task|tasks)",
    "EACHT": "(each|every|all|any) (of)? (the|them|those|these|one)* (T)?",
    "PER": "(throughout|apiece|per (T|one)|a T|(for|of|on|with)? (each|every|all) (of)? (the|them|"
    "those|these|one)* (T)?)",
    "MOST": "(at most|at maximum|no more than|not more than|up to|maximum|max|limited to|capped at|"
    "a maximum of|a limit of|within)",
    "AGENT": "(" + "|".join(sorted(lexicon.AGENT_NOUNS)) + ")",
    "AGENTS": "(" + "|".join(sorted(f"{noun}s" for noun in lexicon.AGENT_NOUNS)) + ")",
    "SEP": "(, and|, or|,|and|&|+|/|;|plus|also)",
    "USER": "(user|users|customer|customers|user side|users side|caller|callers)",
}
_FIXED = {
    **{letter: rf"(?:{letter}[0-9]+ )" for letter in "NDTAMIXQ"},
    "(": "(?:",
    ")": ")",
    "|": "|",
    "?": "?",
    "*": "*",
    "OPEN": r"(?:\( )",
    "W": r"(?:[a-z][^ ]* )",
    "ANY": rf"(?:[^ {_USED}]+ )",
    "CLASS": rf"(?:[NDTAMIXQ][0-9]+ |[.,;:()] |{_USED} )",
}
_TERMINAL = re.compile(r"[()|?*]|[^\s()|?*]+")


@cache
def compiled(notation: str) -> re.Pattern[str]:
    """Compile a pattern to a regular expression over the canonical form of a sentence."""
    return re.compile(rf"(?<!\S){_expanded(notation)}")


def _expanded(notation: str) -> str:
    return "".join(map(_of_terminal, _TERMINAL.findall(notation)))


def _of_terminal(terminal: str) -> str:
    if terminal in _FIXED:
        return _FIXED[terminal]
    if terminal in _MACROS:
        return f"(?:{_expanded(_MACROS[terminal])})"
    if terminal.startswith("!"):
        return f"(?!{_expanded(terminal[1:].replace('_', ' '))})"
    return f"(?:{re.escape(terminal)} )"


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """How many tasks, or which.

    Args:
        ids: Ids of tasks; None for a number or for all.
        number: How many; None for all of them.
        first: The first of the split.
        counts_tasks: It is certain that it counts tasks, wherever it stands.
        said: The words.
    """

    ids: tuple[str, ...] | None = None
    number: int | None = None
    first: bool = False
    counts_tasks: bool = True
    said: str = ""


@dataclass
class Sentence:
    """A sentence, its tokens, and which of them are used.

    Args:
        text: The sentence as it was written.
        tokens: Its tokens.
    """

    text: str
    tokens: list[Token]
    used: list[bool] = field(default_factory=list)
    quantities: dict[int, Quantity] = field(default_factory=dict)
    """The quantities, by the index of their first token."""
    asides: set[int] = field(default_factory=set)
    """Numbers that stand apart from everything that is asked for."""

    def __post_init__(self) -> None:
        self.used = [False] * len(self.tokens)

    def canonical(self) -> tuple[str, list[int]]:
        """Return the sentence with a letter and an index for each token with a meaning.

        Returns:
            The text, every token followed by a space, and where each token begins in it.
        """
        parts, starts, at = [], [], 0
        for index, token in enumerate(self.tokens):
            letter = _LETTERS.get(token.kind)
            if index in self.quantities:
                part = f"Q{index} "
            elif self.used[index]:
                part = f"{_USED} "
            elif token.kind == "end":
                part = ". "
            else:
                part = f"{letter}{index} " if letter else f"{token.text} "
            parts.append(part)
            starts.append(at)
            at += len(part)
        return "".join(parts), starts

    def find(self, notation: str) -> Iterator[list[int]]:
        """Yield the indices of the tokens of each match, from left to right."""
        text, starts = self.canonical()
        for match in compiled(notation).finditer(text):
            found = [i for i, start in enumerate(starts) if match.start() <= start < match.end()]
            if found:
                yield found

    def take(self, notation: str) -> list[list[Token]]:
        """Use all matches of a pattern, and return their tokens."""
        taken = []
        for found in self.find(notation):
            taken.append([self.tokens[index] for index in found])
            self.use(found)
        return taken

    def use(self, indices: Sequence[int]) -> None:
        """Mark tokens as used."""
        for index in indices:
            self.used[index] = True

    def quantify(self, indices: Sequence[int], quantity: Quantity) -> None:
        """Replace tokens with a quantity."""
        self.use(indices)
        said = self.said(indices)
        self.quantities[indices[0]] = replace(quantity, said=said)

    def stands_apart(self, index: int) -> bool:
        """Tell whether no agent, domain or noun for tasks stands in the clause of a token."""
        for step in (1, -1):
            at = index + step
            while 0 <= at < len(self.tokens) and not self.tokens[at].ends_clause:
                if self.tokens[at].kind in ("agent", "domain", "noun"):
                    return False
                at += step
        return True

    def said(self, indices: Sequence[int]) -> str:
        """Return the words of some tokens as they were written."""
        first, last = self.tokens[indices[0]], self.tokens[indices[-1]]
        return " ".join(self.text[first.start : last.end].split())

    def numbers(self, tokens: Sequence[Token]) -> list[int]:
        """Return the numbers among tokens, `one` included."""
        return [int(token.value) for token in tokens if token.kind == "number"]


def settings_in(sentence: Sentence) -> Iterator[tuple[str, Any, str]]:
    """Take the settings out of a sentence; yield name, value and words of each."""
    for name, value, notation in SETTINGS:
        for tokens in sentence.take(notation):
            said = " ".join(token.text for token in tokens)
            if value is not None:
                yield name, value, said
            elif name == "user_llm":
                model = next(token for token in tokens if token.kind == "model")
                yield name, sentence.text[model.start : model.end], said
            else:
                yield name, sentence.numbers(tokens)[0], said


SETTINGS: tuple[tuple[str, Any, str], ...] = (
    ("user_llm", None, "(user|users) (model|llm|simulator)? FILL* M"),
    ("user_llm", None, "M (as|for|to be|is|should be|plays|play) (the|a)? (simulated)? USER (model|llm|simulator)?"),
    ("user_llm", None, "M (simulate|simulates|simulating|play|playing|acting as) (the|a)? USER"),
    ("user_llm", None, "(simulated|played) by M"),
    ("max_concurrency", 1, "(one by one|one at a time|one after the other|one after another|sequentially|"
     "one TALK at a time|one TALK at once|in sequence) (, please)?"),
    ("max_concurrency", None, "(concurrency|parallelism|max concurrency|max concurrent) FILL* MOST? N"),
    ("max_concurrency", None, "(MOST)? N TALK? (running)? (at a time|at once|at the same time|"
     "in the same time|in parallel|concurrently|simultaneously|parallel)"),
    ("max_concurrency", None, "(and|with)? N (parallel)? (workers|threads|lanes)"),
    ("max_steps", None, "(maximum|max|maximal|step) (number of)? (steps|limit|step) (limit)? FILL* N"),
    ("max_steps", None, "(cap|limit) (the|all)? (TALK|them|it)? (at|to) N steps (each|PER|per TALK)?"),
    ("max_steps", None, "(MOST|and)? N steps (maximum|max|at most)? (each|PER|(per|a|in each) TALK)?"),
    ("max_steps", None, "steps : N"),
    ("pass_k", None, "pass ^ FILL* N"),
    ("num_trials", None, "(with)? k FILL* N"),
    ("num_trials", 1, "(a|one)? single TRIALS (PER)?"),
    ("num_trials", None, "(num|number of) (-)? TRIALS FILL* N"),
    ("num_trials", None, "TRIALS (PER)? (:|-|are|is) N"),
    ("num_trials", None, "(EACHT)? (do|run)? (MOST)? N (-)? TRIALS (PER)?"),
    ("num_trials", 2, "(EACHT)? (tried|played|run)? twice !as (PER)?"),
    ("num_trials", 3, "(EACHT)? thrice (PER)?"),
    ("num_trials", 1, "just once|once each|once per T"),
    ("seed", None, "(random)? (seed|seeded) FILL* N"),
    ("seed", None, "N FILL* seed"),
    ("solo", True, "solo (mode|setting|tasks)?"),
    ("solo", True, "(with no|without|no) DET* (simulated)? USER (simulator|simulation|simulated|side)?"),
    ("references", True, "(the)? floor (and|+|&|/|,) (the)? ceiling (agents)? ((beside|alongside|besides|next to|together with|with) (it|them|that|its score|the score)?)?"),
    ("evaluation_type", "action", "evaluation type FILL* action|action evaluation"),
    ("evaluation_type", "action", "(legacy)? (action|actions) (-)? only (scoring|evaluation|score)?"),
    ("evaluation_type", "action", "(only)? by (its|the) actions|legacy action (scoring|evaluation)|"
     "using action (scoring|evaluation)"),
)  # fmt: skip
"""Name, value (None: the number in the words) and pattern, the more specific ones first."""
