"""Hints: what of a policy and of the tools matters most now, to be said again at the end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz import fuzz

from purple_agent.case import Entry, ToolSpec
from purple_agent.reasoners.model.tool_schemas import required_of
from purple_agent.toolbox.verbs import word_set

MAX_SENTENCES = 5
MAX_SENTENCE = 400
"""Characters of one sentence that is repeated."""
MAX_HINTED_TOOLS = 3
SCANNED = 60_000
"""Characters of a policy that are looked at."""
MIN_LIKENESS = 35.0

_BREAK = re.compile(r"(?<=[.!?;])\s+|\n+")
_WORD = re.compile(r"[a-z0-9]{4,}")
_COMMON = word_set(
    "about also been being from have into like must need only please should some than thank "
    "thanks that their them then there they this want what when which will with would your"
)


def sentences_of(policy: str) -> tuple[str, ...]:
    """Return the sentences of a policy that say something: four words or more, without bullets."""
    return _sentences(policy[:SCANNED])


@lru_cache(maxsize=64)
def _sentences(policy: str) -> tuple[str, ...]:
    found = (part.strip(" \t-*#>") for part in _BREAK.split(policy))
    kept = (part[:MAX_SENTENCE] for part in found if len(part.split()) >= 4)
    return tuple(dict.fromkeys(kept))


def _words(text: str) -> str:
    return " ".join(sorted(set(_WORD.findall(text.lower())) - _COMMON))


@lru_cache(maxsize=4_096)
def _words_of_policy(sentence: str) -> str:
    """Return the words of a sentence of a policy or tool; what users write is not to be cached."""
    return _words(sentence)


def relevant_sentences(policy: str, about: str) -> tuple[str, ...]:
    """Return the sentences of a policy that are most like a text, in the policy's order."""
    sentences = sentences_of(policy)
    return tuple(sentences[i] for i in sorted(_most_like(about, sentences)[:MAX_SENTENCES]))


def likely_tools(specs: Sequence[ToolSpec], about: str) -> tuple[ToolSpec, ...]:
    """Return the tools whose name and description are most like a text, the most likely first."""
    texts = [f"{spec.name.replace('_', ' ')} {spec.description[:300]}" for spec in specs]
    return tuple(specs[i] for i in _most_like(about, texts)[:MAX_HINTED_TOOLS])


def _most_like(about: str, texts: Sequence[str]) -> list[int]:
    """Return the places of the texts that are like another one, the best first."""
    wanted = _words(about[:2_000])
    if not wanted:
        return []
    scores = [fuzz.token_set_ratio(wanted, _words_of_policy(text)) for text in texts]
    like = [place for place, score in enumerate(scores) if score >= MIN_LIKENESS]
    return sorted(like, key=lambda place: (-scores[place], place))


def signature_of(spec: ToolSpec) -> str:
    """Return a tool with what it has to be given: `get_order(order_id)`."""
    required = ", ".join(required_of(spec.parameters)[:20])
    return f"{spec.name}({required})"[:300]


def last_user_text(entries: Sequence[Entry]) -> str:
    """Return what the user said last; empty before that."""
    return next((entry.text for entry in reversed(entries) if entry.role == "user"), "")
