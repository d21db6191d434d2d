"""Vocabulary: the words with which requests name the tasks of the installed benchmarks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from adk_agent.requests.reading.words import alternatives
from adk_agent.requests.refusal import Refusal
from tau_bridge.benchmark import Benchmark
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import WordingError

COMMON_SPLITS = ("base", "test", "train", "small", "full")
"""Split names that are always recognized, so that a missing split is refused."""


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The names that sentences may use, and an example for error messages.

    Args:
        domains: The names of the domains, in their order.
        example: A request that can be read.
        lookalikes: English words that look like a misspelled domain but mean something else.
        benchmarks: The benchmarks, whose wording rules are applied in this order.
    """

    domains: tuple[str, ...]
    example: str
    lookalikes: frozenset[str] = frozenset()
    benchmarks: tuple[Benchmark, ...] = ()

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

    def pattern(self, template: str) -> re.Pattern[str]:
        """Compile a template: DOMAIN stands for any domain, NAME for any domain or benchmark."""
        return _compiled(template, self.domains, self.names)

    def reworded(self, text: str) -> str:
        """Replace a lower-case text's words for domains, benchmarks and tasks with their names.

        Raises:
            Refusal: `bad-number` for a task that does not exist, `ambiguous` for words with two
                meanings.
        """
        try:
            for benchmark in self.benchmarks:
                text = benchmark.reworded(text)
        except WordingError as error:
            raise Refusal(error.code, str(error)) from error
        return text


def _shown(domains: tuple[str, ...]) -> str:
    return domains[0] if domains else "<domain>"


@lru_cache(maxsize=512)
def _compiled(
    template: str, domains: tuple[str, ...], benchmarks: tuple[str, ...]
) -> re.Pattern[str]:
    by_domain = template.replace("DOMAIN", alternatives(domains))
    return re.compile(by_domain.replace("NAME", alternatives((*domains, *benchmarks))))
