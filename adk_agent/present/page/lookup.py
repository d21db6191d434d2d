"""Lookup: what a page asks the installed benchmarks; of others nothing is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """Answers about domains and tasks, also of runs whose benchmark was uninstalled since.

    Args:
        benchmarks: What is installed.
    """

    benchmarks: Benchmarks

    def writes(self, domain: str, task_id: str) -> Callable[[str], bool]:
        """Return what tells by a tool's name whether its calls may change the task's world."""
        try:
            benchmark = self.benchmarks.of(domain)
            return benchmark.writes(benchmark.ref(domain, task_id))
        except DataError:
            return lambda name: False  # noqa: ARG005 - nothing is known of any tool

    def meaning(self, domain: str, component: str) -> str:
        """Say in a clause what it means that a component is 0; its name where that is not known."""
        try:
            meanings = self.benchmarks.domain(domain).meanings
        except DataError:
            return component
        return meanings.get(component, component)
