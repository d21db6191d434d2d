"""Vocabulary: the words with which requests name the tasks of the installed benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
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
        benchmarks: The benchmarks.
        spellings: Other words for domains, in lower case.
        special_nouns: Nouns for the tasks of a single domain, with its name.
    """

    domains: tuple[str, ...]
    example: str
    lookalikes: frozenset[str] = frozenset()
    benchmarks: tuple[Benchmark, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    special_nouns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, benchmarks: Benchmarks) -> Vocabulary:
        """Make the vocabulary of all opened benchmarks."""
        domains = benchmarks.domains
        examples = [example for benchmark in benchmarks.all for example in benchmark.examples]
        usual = f"Evaluate the agent at http://localhost:9010 on five {_shown(domains)} tasks"
        return cls(
            domains=domains,
            example=examples[0] if examples else usual,
            lookalikes=frozenset().union(*(each.lookalikes for each in benchmarks.all)),
            benchmarks=benchmarks.all,
            spellings={k: v for each in benchmarks.all for k, v in each.spellings.items()},
            special_nouns={
                noun: domain.name
                for benchmark in benchmarks.all
                for domain in benchmark.domains()
                for noun in (domain.noun, domain.noun.removesuffix("s"))
                if noun not in GENERIC_NOUNS
            },
        )

    @property
    def domain(self) -> str:
        """A domain for examples."""
        return _shown(self.domains)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the benchmarks, which select no tasks in a sentence."""
        return tuple(benchmark.name for benchmark in self.benchmarks)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The nouns that stand for tasks."""
        return GENERIC_NOUNS | self.special_nouns.keys()

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The names of splits, the common ones first.

        Raises:
            DataError: A benchmark cannot read its splits.
        """
        named = (
            split
            for benchmark in self.benchmarks
            for domain in benchmark.domains()
            for split in benchmark.splits(domain.name)
        )
        return tuple(dict.fromkeys((*COMMON_SPLITS, *named)))

    def domain_named(self, word: str) -> str | None:
        """Return the domain that a word in lower case names; None for other words."""
        return word if word in self.domains else self.spellings.get(word)

    def task_named(self, word: str) -> tuple[str, str] | None:
        """Return domain and id of the task that a word names, whole or by what it begins with."""
        found = [
            (domain, task_id)
            for domain, ids in self._ids.items()
            for task_id in ids
            if task_id == word or task_id.startswith(f"{word}_")
        ]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _ids(self) -> dict[str, tuple[str, ...]]:
        """The ids of each domain that are no numbers."""
        return {
            domain.name: tuple(i for i in benchmark.task_ids(domain.name) if not i.isdigit())
            for benchmark in self.benchmarks
            for domain in benchmark.domains()
        }

    def repaired(self, word: str) -> str | None:
        """Return the domain that a misspelled word means; None if it means none, or several."""
        return None if word in self.lookalikes else repaired(word, self.domains)


def _shown(domains: tuple[str, ...]) -> str:
    return domains[0] if domains else "<domain>"
