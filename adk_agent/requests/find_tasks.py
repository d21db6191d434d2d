"""TaskSearch: finds tasks by what they are about, without a model, and says why each was found.

Every content word of the query stands in the task's own text (its title, description, the person's
reason and instructions, names of gold tools and entities), never only in the domain's policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from adk_agent.core.errors import RequestError
from adk_agent.requests.search import Document, Query, TextIndex
from tau_bridge.benchmark import BASE_SPLIT, TaskInfo, TaskRef
from tau_bridge.benchmarks import Benchmarks


@dataclass(frozen=True, kw_only=True)
class FoundTask:
    """A task that was found.

    Args:
        ref: Its name.
        title: What it is about, in one line.
        reason: Where the words that were looked for stand in it, and the attributes asked for.
        attributes: Facts about it, by name.
        score: Its rank by BM25; 0 where only attributes were asked for.
    """

    ref: TaskRef
    title: str
    reason: str
    attributes: Mapping[str, str]
    score: float = 0.0


class TaskSearch:
    """Searches the tasks of all benchmarks. A split is indexed when it is first searched."""

    def __init__(self, catalogue: Benchmarks) -> None:
        self._catalogue = catalogue
        self._opened: dict[tuple[str, str], tuple[Sequence[TaskInfo], TextIndex]] = {}

    def matches(self, domain: str, split: str, query: str) -> Sequence[FoundTask]:
        """Return the tasks of a split that are about the query, the best first.

        Raises:
            DataError: There is no such domain or split.
            RequestError: The query holds no content word.
        """
        return self.find(domain, query, split=split)

    def is_topic(self, words: str, domain: str, split: str = BASE_SPLIT) -> bool:
        """Tell whether at least one task of a split is about all of these words."""
        query = self._query(domain, words)
        return self._open(domain, split)[1].holds(query)

    def content_words(self, text: str, domain: str) -> tuple[str, ...]:
        """Return the words of a text that say what it is about, and not its form or the domain."""
        return self._query(domain, text).words

    def find(
        self,
        domain: str,
        query: str = "",
        *,
        split: str = BASE_SPLIT,
        where: Mapping[str, str] | None = None,
    ) -> Sequence[FoundTask]:
        """Return the tasks about a query that have the attributes, the best first.

        Without a query, they come in the order of the split.

        Raises:
            DataError: There is no such domain or split.
            RequestError: The query holds no content word, or no task has such an attribute.
        """
        del where
        infos, index = self._open(domain, split)
        asked = self._query(domain, query)
        if not asked.alternatives:
            raise RequestError(f"{query[:80]!r} holds no word that a task could be about")
        return [
            FoundTask(
                ref=infos[hit.position].ref,
                title=infos[hit.position].title,
                reason=hit.reason,
                attributes=infos[hit.position].attributes,
                score=hit.score,
            )
            for hit in index.search(asked)
        ]

    def _query(self, domain: str, text: str) -> Query:
        noun = self._catalogue.domain(domain).noun
        return Query(text, ignored=re.findall(r"\w+", f"{domain} {noun}"))

    def _open(self, domain: str, split: str) -> tuple[Sequence[TaskInfo], TextIndex]:
        if (domain, split) not in self._opened:
            benchmark = self._catalogue.of(domain)
            benchmark.require_split(domain, split)
            infos = benchmark.tasks(domain, split)
            self._opened[domain, split] = infos, TextIndex([_document(info) for info in infos])
        return self._opened[domain, split]


def _document(info: TaskInfo) -> Document:
    return Document(title=info.title, passages={"text": info.text, **info.passages})


_SEARCHES: WeakKeyDictionary[Benchmarks, TaskSearch] = WeakKeyDictionary()


def search_of(catalogue: Benchmarks) -> TaskSearch:
    """Return the search over a catalogue; its indexes are kept as long as the catalogue is."""
    return _SEARCHES.setdefault(catalogue, TaskSearch(catalogue))
