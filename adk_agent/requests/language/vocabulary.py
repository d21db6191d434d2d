"""Vocabulary: the words with which requests name the tasks of the installed benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from adk_agent.requests.language.lexicon import GENERIC_NOUNS
from adk_agent.requests.spelling import repaired
from tau_bridge.benchmark import Benchmark
from tau_bridge.benchmarks import Benchmarks

COMMON_SPLITS = ("base", "test", "train", "small", "full")
"""Split names that are always recognized, so that a missing split is refused."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The names that sentences may use, and an example for error messages.

    Args:
        domains: The names of the domains, in their order.
        example: A request that can be read.
        lookalikes: English words that look like a misspelled domain but mean something else.
        common_words: Domains that are common words as well.
        benchmark_names: Names of benchmarks that are no words for domains, the longest first, each
            with the domains of its benchmark.
        benchmarks: The benchmarks.
        spellings: Other words for domains, and nouns for the tasks of a single one, in lower case.
        shared: Words that mean domains of several benchmarks, with these domains.
    """

    domains: tuple[str, ...]
    example: str
    lookalikes: frozenset[str] = frozenset()
    common_words: frozenset[str] = frozenset()
    benchmark_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    benchmarks: tuple[Benchmark, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, benchmarks: Benchmarks) -> Vocabulary:
        """Make the vocabulary of all opened benchmarks."""
        every = benchmarks.all
        spellings = {word: name for each in every for word, name in each.spellings.items()}
        spellings |= {
            noun: domain.name
            for benchmark in every
            for domain in benchmark.domains()
            for noun in (domain.noun, domain.noun.removesuffix("s"))
            if noun not in GENERIC_NOUNS
        }
        examples = [example for benchmark in every for example in benchmark.examples]
        names = {
            name.lower(): tuple(domain.name for domain in each.domains())
            for each in every
            for name in (each.name, *each.other_names)
            if name not in {*benchmarks.domains, *spellings}
        }
        return cls(
            domains=benchmarks.domains,
            benchmark_names=dict(sorted(names.items(), key=lambda each: (-len(each[0]), each))),
            example=next(iter(examples), "Evaluate http://localhost:9010 on five <domain> tasks"),
            lookalikes=frozenset().union(*(each.lookalikes for each in every)),
            common_words=frozenset().union(*(each.common_words for each in every)),
            benchmarks=every,
            spellings=spellings,
            shared=_shared(every),
        )

    @property
    def domain(self) -> str:
        """A domain for examples."""
        return next(iter(self.domains), "<domain>")

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The names of splits, the common ones first.

        Raises:
            DataError: A benchmark cannot read its splits.
        """
        named = (s for each in self.benchmarks for d in each.domains() for s in each.splits(d.name))
        return tuple(dict.fromkeys((*COMMON_SPLITS, *named)))

    def domain_named(self, word: str) -> str | None:
        """Return the domain that a word in lower case names; None for other words."""
        return word if word in self.domains else self.spellings.get(word)

    def task_named(self, word: str) -> tuple[str, str] | None:
        """Return domain and id of the task that a word names, whole or by what it begins with."""
        found = [task for task in self._ids if task[1] == word or task[1].startswith(f"{word}_")]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _ids(self) -> tuple[tuple[str, str], ...]:
        """Domain and id of each task whose id is no number."""
        return tuple(
            (domain.name, task_id)
            for benchmark in self.benchmarks
            for domain in benchmark.domains()
            for task_id in benchmark.task_ids(domain.name)
            if not task_id.isdigit()
        )

    def repaired(self, word: str) -> str | None:
        """Return the domain that a misspelled word means; None if it means none, or several."""
        return None if word in self.lookalikes else repaired(word, self.domains)


def _shared(benchmarks: Sequence[Benchmark]) -> dict[str, tuple[str, ...]]:
    """Return the words that mean domains of several benchmarks."""
    meant: dict[str, list[str]] = {}
    for benchmark in benchmarks:
        names = {domain.name: domain.name for domain in benchmark.domains()}
        for word, domain in {**benchmark.spellings, **names}.items():
            meant.setdefault(word, []).append(domain)
    return {word: tuple(each) for word, each in meant.items() if len(set(each)) > 1}
