"""TextIndex: texts that hold every word of a query, the best first by BM25.

The filter decides what is found; the rank only orders it. Pure, and the same for the same texts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, starmap
from typing import Final

from adk_agent.requests.word_forms import WORD, forms, is_filler, joined, normal_form, parts_of

K1: Final = 1.2
B: Final = 0.75
"""The usual parameters of BM25: how fast repetitions saturate, how much length counts."""
TITLE_WEIGHT: Final = 3
"""A word of the title counts as much as this many in the rest."""
COMMON_SHARE: Final = 0.9
"""A sentence that stands in more of the texts than this says nothing about any of them."""
FEWEST_FOR_COMMON: Final = 5
"""With fewer texts than this, no sentence counts as common."""

_RELATED: Final = re.compile(r"-(?:related|themed|specific)\b", re.IGNORECASE)
_ALTERNATIVES: Final = re.compile(r"\bor\b|/", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_SNIPPET: Final = 70


_Term = tuple[tuple[str, ...], ...]
"""The forms that a word asks for: sets, one of which a text must hold in full."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One text to be found: its title, and named passages."""

    title: str
    passages: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A document that has all words of a query: its position and its score."""

    position: int
    score: float
    terms: tuple[_Term, ...]


@dataclass(frozen=True, kw_only=True)
class _Words:
    """The forms of a sentence's words with their numbers, and all forms that it can be found by."""

    counts: Mapping[str, int]
    forms: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class _Sentence:
    """A sentence of a document, and the name of its passage; the title has none."""

    name: str
    text: str
    words: _Words


class Query:
    """A query: alternatives (`or`), each of which is the content words that all count.

    Args:
        text: The query.
        ignored: Words that say nothing here, such as the name of the domain.
    """

    def __init__(self, text: str, ignored: Iterable[str] = ()) -> None:
        without = {normal_form(word) for word in ignored}
        topics = _ALTERNATIVES.split(_RELATED.sub(" ", text))
        parts = (_content_words(part, without) for part in topics)
        self.alternatives: tuple[tuple[str, ...], ...] = tuple(filter(None, parts))

    @property
    def words(self) -> tuple[str, ...]:
        """Return all content words, as they stand in the query."""
        return tuple(word for words in self.alternatives for word in words)


def _content_words(text: str, without: Container[str]) -> tuple[str, ...]:
    return tuple(
        word
        for word in WORD.findall(text)
        if not is_filler(word) and normal_form(word) not in without
    )


class TextIndex:
    """Documents by the words that they hold."""

    def __init__(self, documents: Sequence[Document]) -> None:
        read = cache(_read)  # texts made from a pattern repeat their sentences
        split = [_sentences(document, read) for document in documents]
        common = _common(split)
        self._sentences = [
            [each for each in sentences if not each.name or each.text not in common]
            for sentences in split
        ]
        self._passages = [_passages(sentences) for sentences in self._sentences]
        self._counts = [_counts(sentences) for sentences in self._sentences]
        self._lengths = [counts.total() for counts in self._counts]
        self._mean = sum(self._lengths) / len(documents) if documents else 0.0
        self._postings: dict[str, set[int]] = {}
        for position, sentences in enumerate(self._sentences):
            for form in {form for each in sentences for form in each.words.forms}:
                self._postings.setdefault(form, set()).add(position)

    def search(self, query: Query) -> list[Hit]:
        """Return the documents that hold every word of the query, the best first.

        All words stand in one passage of it. Only where that is so of no document, it is enough
        that they stand anywhere in it.
        """
        best: dict[int, Hit] = {}
        for terms in map(self._terms, query.alternatives):
            for position in self._holding(terms):
                hit = Hit(position=position, score=self._score(position, terms), terms=terms)
                if position not in best or best[position].score < hit.score:
                    best[position] = hit
        return sorted(best.values(), key=lambda hit: (-hit.score, hit.position))

    def holds(self, query: Query) -> bool:
        """Tell whether any document holds every word of the query."""
        return any(self._holding(self._terms(words)) for words in query.alternatives)

    def _terms(self, words: Sequence[str]) -> tuple[_Term, ...]:
        """Return what the words ask for; each may also be a part of a compound in a text."""
        return tuple(
            (
                parts_of(word),
                (joined(word),),
                *((joined(*pair),) for pair in ((before, word), (word, after)) if all(pair)),
            )
            for word, before, after in zip(words, ("", *words), (*words[1:], ""), strict=False)
        )

    def _holding(self, terms: Sequence[_Term]) -> set[int]:
        found = [set().union(*map(self._with_all, alternatives)) for alternatives in terms]
        anywhere = set.intersection(*found) if found else set()
        together = {
            position
            for position in anywhere
            if any(_holds_all(passage, terms) for passage in self._passages[position])
        }
        return together or anywhere

    def _with_all(self, needed: Sequence[str]) -> set[int]:
        return set.intersection(*(self._postings.get(form, set()) for form in needed))

    def _score(self, position: int, terms: Sequence[_Term]) -> float:
        counts, length = self._counts[position], self._lengths[position]
        score = 0.0
        for form in sorted(_forms_of(terms)):
            if not counts[form]:
                continue
            holding = len(self._postings[form])
            rarity = math.log(1 + (len(self._counts) - holding + 0.5) / (holding + 0.5))
            damping = K1 * (1 - B + B * length / self._mean)
            score += rarity * counts[form] * (K1 + 1) / (counts[form] + damping)
        return score

    def reason(self, hit: Hit) -> str:
        """Quote sentences until every word of the query was seen, the richest first."""
        wanted, seen = _forms_of(hit.terms), frozenset[str]()
        quotes = []
        while not _holds_all(seen, hit.terms):
            missing = wanted - seen
            richest = max(
                self._sentences[hit.position], key=lambda each: len(each.words.forms & missing)
            )
            found = richest.words.forms & missing
            quotes.append(f'{richest.name or "title"}: "{_snippet(richest.text, found)}"')
            seen |= found
        return "; ".join(quotes)


def _forms_of(terms: Iterable[_Term]) -> set[str]:
    return {form for term in terms for needed in term for form in needed}


def _holds_all(passage: frozenset[str], terms: Iterable[_Term]) -> bool:
    return all(any(passage.issuperset(needed) for needed in term) for term in terms)


def _passages(sentences: Iterable[_Sentence]) -> tuple[frozenset[str], ...]:
    """Return the forms of each passage."""
    found: dict[str, set[str]] = {}
    for each in sentences:
        found.setdefault(each.name, set()).update(each.words.forms)
    return tuple(map(frozenset, found.values()))


def _sentences(document: Document, read: Callable[[str], _Words]) -> list[_Sentence]:
    parts = [("", document.title), *document.passages.items()]
    return [
        _Sentence(name=name, text=sentence, words=read(sentence))
        for name, text in parts
        for sentence in (" ".join(each.split()) for each in _SENTENCE_END.split(text))
        if sentence
    ]


def _read(sentence: str) -> _Words:
    """Return the words of a sentence; of every two neighbours also the compound that they make."""
    words = WORD.findall(sentence)
    counts = Counter(form for word in words for form in forms(word))
    return _Words(counts=counts, forms=frozenset([*counts, *starmap(joined, pairwise(words))]))


def _common(split: Sequence[Sequence[_Sentence]]) -> frozenset[str]:
    """Return the sentences that stand in nearly all documents."""
    if len(split) < FEWEST_FOR_COMMON:
        return frozenset()
    seen = Counter(text for sentences in split for text in {each.text for each in sentences})
    return frozenset(text for text, count in seen.items() if count > COMMON_SHARE * len(split))


def _counts(sentences: Iterable[_Sentence]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for each in sentences:
        for form, count in each.words.counts.items():
            counts[form] += count * (1 if each.name else TITLE_WEIGHT)
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
