"""TaskSearch: finds tasks by what they are about, without a model, and says why each was found.

Every content word of a query stands in the task's own text (its title, purpose, the person's reason
and instructions, names of gold tools and entities), never only in the domain's policy.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_controls, one_line
from adk_agent.requests.conditions import fulfils, predicate, require_attributes, values_of
from adk_agent.requests.search import Document, Query, TextIndex
from adk_agent.requests.word_forms import normal_form
from tau_bridge.benchmark import BASE_SPLIT, TaskInfo, TaskRef
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError

MAX_QUERY: Final = 200
"""Characters of a query."""
TITLE_WIDTH: Final = 160
_TOPICS_SHOWN: Final = 8
_EXCLUSION: Final = re.compile(
    r"^\s*not\b|\b(?:without|except|excluding|unless|but|nor|besides)\b", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class FoundTask:
    """A task that was found.

    Args:
        ref: Its name.
        title: What it is about, in one line.
        reason: Where the words that were looked for stand in it, and the attributes asked for.
        attributes: Facts about it, by name.
    """

    ref: TaskRef
    title: str
    reason: str
    attributes: Mapping[str, str]

    def record(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "domain": self.ref.domain,
            "id": self.ref.id,
            "title": self.title,
            "reason": self.reason,
            "attributes": dict(self.attributes),
        }


@dataclass(frozen=True, kw_only=True)
class _Split:
    """The tasks of a split, and their index."""

    infos: Sequence[TaskInfo]
    index: TextIndex


_OPENED: Final[WeakKeyDictionary[Benchmarks, dict[tuple[str, str], _Split]]] = WeakKeyDictionary()
"""Splits by domain and name. They hold on to no catalogue, so that they go when it goes."""


class TaskSearch:
    """Searches the tasks of a catalogue.

    A split is indexed when it is first searched, once for each catalogue.
    """

    def __init__(self, catalogue: Benchmarks) -> None:
        self._catalogue = catalogue
        self._splits = _OPENED.setdefault(catalogue, {})

    def find(
        self,
        domain: str,
        query: str = "",
        *,
        split: str = BASE_SPLIT,
        where: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> list[FoundTask]:
        """Return the tasks about a query that have the attributes, the best first; perhaps none.

        Without a query, they come in the order of the split.

        Raises:
            DataError: There is no such domain or split.
            RequestError: The query says nothing, or no task has such an attribute.
        """
        opened, wanted = self._open(domain, split), where or {}
        require_attributes(opened.infos, wanted, whose=f"{domain} tasks")
        hits = opened.index.search(self._checked(domain, query)) if query else []
        found = (
            [(opened.infos[hit.position], hit) for hit in hits]
            if query
            else [(info, None) for info in opened.infos]
        )
        kept = [(info, hit) for info, hit in found if fulfils(info, wanted)][:limit]
        return [
            FoundTask(
                ref=info.ref,
                title=one_line(escape_controls(info.title), TITLE_WIDTH),
                reason=escape_controls(
                    "; ".join(
                        ([opened.index.reason(hit)] if hit is not None else [])
                        + [f"{name}: {info.attributes.get(name, 'none')}" for name in wanted]
                    )
                ),
                attributes=info.attributes,
            )
            for info, hit in kept
        ]

    def find_in(
        self,
        domains: Sequence[str],
        query: str = "",
        *,
        split: str = BASE_SPLIT,
        where: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> list[FoundTask]:
        """Return the tasks of several domains, one domain after the other; at least one.

        Args:
            domains: Their names. Of several, those without the split or the attributes are passed
                over.
            query: What the tasks are about; all tasks without it.
            split: The split of each.
            where: Conditions on attributes, by name.
            limit: At most this many of each domain.

        Raises:
            DataError: There is no such domain or split.
            RequestError: There are none; the message says what there is.
        """
        found: list[FoundTask] = []
        problems: list[DataError | RequestError] = []
        for domain in domains:
            try:
                found += self.find(domain, query, split=split, where=where, limit=limit)
            except (DataError, RequestError) as error:
                problems.append(error)
        if found:
            return found
        if len(problems) == len(domains):
            raise problems[0]
        if len(domains) == 1:
            raise RequestError(self.absence(domains[0], query, split=split, where=where))
        asked = predicate(query, where or {}, number=1)
        raise RequestError(f"no task of any domain {asked}: searched {', '.join(domains)}")

    def matches(self, domain: str, split: str, query: str) -> Sequence[FoundTask]:
        """Return the tasks of a split that are about a query, the best first; perhaps none.

        Raises:
            DataError: There is no such domain or split.
            RequestError: The query says nothing.
        """
        return self.find(domain, query, split=split)

    def is_topic(self, words: str, domain: str, split: str = BASE_SPLIT) -> bool:
        """Tell whether at least one task of a split is about all of these words."""
        return self._open(domain, split).index.holds(self._query(domain, words))

    def content_words(self, text: str, domain: str) -> tuple[str, ...]:
        """Return the words of a text that say what it is about, not its form or the domain."""
        return self._query(domain, text).words

    def absence(
        self,
        domain: str,
        query: str = "",
        *,
        split: str = BASE_SPLIT,
        where: Mapping[str, str] | None = None,
    ) -> str:
        """Explain that nothing was found, and tell what there is instead."""
        opened = self._open(domain, split)
        hints = self._hints(domain, query, split) if query else []
        hints += [f"{name} is {values_of(opened.infos, name)}" for name in where or {}]
        hints.append(f"'greenroom list tasks --domain {domain}' lists all")
        return f"no {domain} task {predicate(query, where or {}, number=1)}: {'; '.join(hints)}"

    def _hints(self, domain: str, query: str, split: str) -> list[str]:
        words = self._checked(domain, query).words
        counts = {word: len(self.find(domain, word, split=split)) for word in dict.fromkeys(words)}
        hints = []
        unknown = [repr(word) for word, count in counts.items() if not count]
        if unknown:
            hints.append(f"none of their texts says {' or '.join(unknown)}")
        elif len(counts) > 1:
            told = " and ".join(f"{count} say {word!r}" for word, count in counts.items())
            hints.append(f"{told}, but none says all")
        elsewhere = [
            other
            for other in self._catalogue.domains
            if other != domain and self.is_topic(query, other)
        ]
        if elsewhere:
            hints.append(f"there are such tasks in {' and '.join(elsewhere)}")
        topics = self.topics(domain, split)
        return [*hints, f"frequent topics are {', '.join(topics)}"] if topics else hints

    def topics(self, domain: str, split: str = BASE_SPLIT) -> tuple[str, ...]:
        """Return the words that most titles share, unless nearly all do."""
        infos = self._open(domain, split).infos
        seen: Counter[str] = Counter()
        shown: dict[str, str] = {}
        for info in infos:
            words = {normal_form(word): word for word in self.content_words(info.title, domain)}
            seen.update(words.keys())
            shown |= {form: word.lower() for form, word in words.items() if form not in shown}
        frequent = [form for form, count in seen.most_common() if 2 <= count < 0.7 * len(infos)]
        return tuple(f"{shown[form]} ({seen[form]})" for form in frequent[:_TOPICS_SHOWN])

    def _checked(self, domain: str, text: str) -> Query:
        if len(text) > MAX_QUERY:
            raise RequestError(
                f"a topic of {len(text):,} characters is too long: write a few words, at most "
                f"{MAX_QUERY} characters"
            )
        if _EXCLUSION.search(text):
            raise RequestError(
                f"{text!r} names what tasks are not about: tasks are only found by what their texts say"
            )
        query = self._query(domain, text)
        if not query.words:
            raise RequestError(f"{text!r} has no word that a task of {domain!r} could be about")
        return query

    def _query(self, domain: str, text: str) -> Query:
        noun = self._catalogue.domain(domain).noun
        return Query(text[:MAX_QUERY], ignored=re.findall(r"\w+", f"{domain} {noun}"))

    def _open(self, domain: str, split: str) -> _Split:
        if (domain, split) not in self._splits:
            benchmark = self._catalogue.of(domain)
            benchmark.require_split(domain, split)
            infos = benchmark.tasks(domain, split)
            self._splits[domain, split] = _Split(infos=infos, index=_index(infos))
        return self._splits[domain, split]


def _index(infos: Iterable[TaskInfo]) -> TextIndex:
    return TextIndex(
        [
            Document(title=info.title, passages={"text": info.text, **info.passages})
            for info in infos
        ]
    )
