"""Verbs: reads from a tool's name whether it writes and which entity it is about."""

from __future__ import annotations

import re


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


READ_VERBS = word_set(
    "calculate check count fetch find get list lookup query read search show view"
)
"""First words of names of tools that change nothing, besides `look_up`."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK = re.compile(r"[^0-9A-Za-z]+")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name in lower case: `getExpense` is `get_expense`."""
    return tuple(word.lower() for word in _BREAK.split(_HUMP.sub("_", name)) if word)


def is_write(name: str, *, read_only: bool | None = None) -> bool:
    """Tell whether a tool may change something.

    Args:
        name: The tool's name. Its first word decides; an unknown verb may write.
        read_only: The provider's statement (`readOnlyHint`), which decides if given.
    """
    if read_only is not None:
        return not read_only
    return _verb_length(words_of(name)) == 0


def entity_of(name: str) -> str:
    """Return the entity of a tool: its name without the verb, `expense` for `get_expense`.

    A name without a reading verb loses its first word, unless it has only one.
    """
    words = words_of(name)
    rest = words[_verb_length(words) or 1 :]
    return "_".join(rest or words)


def _verb_length(words: tuple[str, ...]) -> int:
    """Return the number of words of the reading verb at the beginning, or 0."""
    if words[:2] == ("look", "up"):
        return 2
    return 1 if words[:1] and words[0] in READ_VERBS else 0
