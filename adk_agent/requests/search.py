"""TextIndex: texts that hold every word of a query, the best first by BM25.

The filter decides what is found; the rank only orders it. Pure, and the same for the same texts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from adk_agent.requests.word_forms import FILLERS, WORD, forms, normal_form

K1: Final = 1.2
B: Final = 0.75
"""The usual parameters of BM25: how fast repetitions saturate, how much length counts."""
TITLE_WEIGHT: Final = 3
"""A word of the title counts as much as this many in the rest."""
COMMON_SHARE: Final = 0.9
"""A sentence that stands in more of the texts than this says nothing about any of them."""
FEWEST_FOR_COMMON: Final = 5
"""With fewer texts than this, no sentence counts as common."""

_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_SNIPPET: Final = 70


@dataclass(frozen=True, kw_only=True)
class Document:
    """One text to be found: its title, and named passages."""

    title: str
    passages: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A document that has all words of a query: its position, its score and why."""

    position: int
    score: float
    reason: str


@dataclass(frozen=True, kw_only=True)
class _Sentence:
    """A sentence of a document, and the name of its passage; the title has none."""

    name: str
    text: str
    forms: frozenset[str]


Term = tuple[tuple[str, ...], ...]
"""A query's word: the sets of forms of which a text must hold one in full."""


class Query:
    """The content words of a query: alternatives (`or`), each of which is words that all count."""

    def __init__(self, text: str, ignored: Iterable[str] = ()) -> None:
        fillers = {normal_form(word) for word in ignored}
        self.alternatives: tuple[tuple[Term, ...], ...] = tuple(
            terms
            for part in re.split(r"\bor\b|/", text, flags=re.IGNORECASE)
            if (terms := _terms(part, fillers))
        )
        self.words: tuple[str, ...] = tuple(content_words(text, ignored))


def content_words(text: str, ignored: Iterable[str] = ()) -> list[str]:
    """Return the words of a text that say what it is about, as they stand there."""
    fillers = {normal_form(word) for word in ignored}
    return [
        word
        for word in WORD.findall(text)
        if word.casefold() not in FILLERS and normal_form(word) not in fillers
    ]


def _terms(text: str, fillers: set[str]) -> tuple[Term, ...]:
    terms = []
    for word in content_words(text):
        if normal_form(word) in fillers:
            continue
        parts = [part for part in word.split("-") if part]
        whole = (normal_form("".join(parts)),)
        terms.append((whole, tuple(map(normal_form, parts))) if len(parts) > 1 else (whole,))
    return tuple(dict.fromkeys(terms))


class TextIndex:
    """Documents by the words that they hold."""

    def __init__(self, documents: Sequence[Document]) -> None:
        split = [_sentences(document) for document in documents]
        common = _common(split)
        self._sentences = [
            [each for each in sentences if not each.name or each.text not in common]
            for sentences in split
        ]
        self._counts = [_counts(sentences) for sentences in self._sentences]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / len(documents) if documents else 0.0
        self._postings: dict[str, set[int]] = {}
        for position, counts in enumerate(self._counts):
            for form in counts:
                self._postings.setdefault(form, set()).add(position)

    def search(self, query: Query) -> list[Hit]:
        """Return all documents that hold every word of the query, the best first."""
        best: dict[int, Hit] = {}
        for terms in query.alternatives:
            for position in self._holding(terms):
                hit = Hit(
                    position=position,
                    score=self._score(position, terms),
                    reason=self._reason(position, terms),
                )
                if position not in best or best[position].score < hit.score:
                    best[position] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.position))

    def holds(self, query: Query) -> bool:
        """Tell whether any document holds every word of the query."""
        return any(self._holding(terms) for terms in query.alternatives)

    def _holding(self, terms: Sequence[Term]) -> set[int]:
        found = [
            set().union(*(self._with_all(needed) for needed in alternatives))
            for alternatives in terms
        ]
        return set.intersection(*found) if found else set()

    def _with_all(self, needed: tuple[str, ...]) -> set[int]:
        return set.intersection(*(self._postings.get(form, set()) for form in needed))

    def _score(self, position: int, terms: Sequence[Term]) -> float:
        counts, length = self._counts[position], self._lengths[position]
        score = 0.0
        for form in {form for term in terms for needed in term for form in needed}:
            if not counts[form]:
                continue
            holding = len(self._postings[form])
            rarity = math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))
            damping = K1 * (1 - B + B * length / self._mean)
            score += rarity * counts[form] * (K1 + 1) / (counts[form] + damping)
        return score

    def _reason(self, position: int, terms: Sequence[Term]) -> str:
        """Quote sentences until every word of the query was seen, the richest first."""
        missing = {form for term in terms for needed in term for form in needed}
        quotes = []
        sentences = list(self._sentences[position])
        while sentences and missing:
            richest = max(sentences, key=lambda each: len(each.forms & missing))
            seen = richest.forms & missing
            if not seen:
                break
            quotes.append(f'{richest.name or "title"}: "{_snippet(richest.text, seen)}"')
            missing -= seen
            sentences.remove(richest)
        return "; ".join(quotes)


def _sentences(document: Document) -> list[_Sentence]:
    parts = [("", document.title), *document.passages.items()]
    return [
        _Sentence(name=name, text=sentence, forms=frozenset(_all_forms(sentence)))
        for name, text in parts
        for sentence in (" ".join(each.split()) for each in _SENTENCE_END.split(text))
        if sentence
    ]


def _all_forms(text: str) -> Iterable[str]:
    return (form for word in WORD.findall(text) for form in forms(word))


def _common(split: Sequence[Sequence[_Sentence]]) -> frozenset[str]:
    """Return the sentences that stand in nearly all documents."""
    if len(split) < FEWEST_FOR_COMMON:
        return frozenset()
    seen = Counter(text for sentences in split for text in {each.text for each in sentences})
    return frozenset(text for text, count in seen.items() if count > COMMON_SHARE * len(split))


def _counts(sentences: Iterable[_Sentence]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in sentences:
        weight = 1 if each.name else TITLE_WEIGHT
        for form in _all_forms(each.text):
            counts[form] += weight
    return counts


def _snippet(text: str, seen: frozenset[str]) -> str:
    """Return the part of a sentence around the first word that was looked for."""
    at = next(
        (m.start() for m in WORD.finditer(text) if not seen.isdisjoint(forms(m.group()))),
        0,
    )
    start = 0 if len(text) <= _SNIPPET else max(0, at - _SNIPPET // 2)
    if start:
        start = text.find(" ", start, at) + 1 or at
    end = len(text) if len(text) - start <= _SNIPPET else text.rfind(" ", start, start + _SNIPPET)
    end = end if end > at else len(text[: start + _SNIPPET])
    return f"{'… ' if start else ''}{text[start:end]}{' …' if end < len(text) else ''}"
