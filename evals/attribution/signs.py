"""Signs: what a cue finds in a log, and the words that show it. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evals.attribution.turns import Log
from evals.attribution.values import MAX_CHARS

_EXCERPT = 160
STEM = 4
"""Letters by which words are the same."""
RARE = 1 / 3
"""Share of the turns of a team up to which something in them is out of the ordinary."""
STOP_WORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "may",
        "of",
        "on",
        "or",
        "our",
        "should",
        "so",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whose",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A sign at one turn."""

    at: int
    """The place of the turn in the log."""
    strength: float
    """0 to 1."""
    reason: str
    """A sentence."""
    excerpt: str | None = None


def own_lines(log: Log, at: int) -> list[str]:
    """Return the sentences of a turn, if an agent answers for it, that are not in the task."""
    turn = log.turns[at]
    if not turn.is_own:
        return []
    lines = re.split(r"(?<=[.!?])\s|\n", turn.text[:MAX_CHARS])
    return [line for line in lines if line.strip() and line.strip() not in log.task]


def excerpt_of(text: str) -> str:
    """Return a text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 3]}..."
