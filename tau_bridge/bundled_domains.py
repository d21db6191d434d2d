"""The domains that come along with the product, beside those of τ²-bench."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from evals.outcome import ComponentName
from tau_bridge import coordination
from tau_bridge.business import scenarios, scoring
from tau_bridge.errors import DataError
from tau_bridge.sampling import TaskKind


@dataclass(frozen=True, kw_only=True)
class BundledDomain:
    """A domain whose tasks stand in a file of the product's own.

    Args:
        name: Under which it is asked for.
        noun: What its tasks are called, several of them.
        split: The one split that it has.
        basis: The components whose product is the reward.
        ids: Gives the ids of its tasks, in their order.
        revision: Gives a hash of all of them.
        kind: Gives the kind of a task; None where they are all of one kind.
    """

    name: str
    noun: str
    split: str
    basis: tuple[ComponentName, ...]
    ids: Callable[[], tuple[str, ...]]
    revision: Callable[[], str]
    kind: Callable[[str], TaskKind] | None = None

    def task_ids(self, split: str) -> tuple[str, ...]:
        """The ids of a split.

        Raises:
            DataError: there is no such split.
        """
        if split != self.split:
            raise DataError(f"{self.noun} have no split {split!r}, only {self.split!r}")
        return self.ids()


BUNDLED_DOMAINS: Mapping[str, BundledDomain] = MappingProxyType(
    {
        each.name: each
        for each in (
            BundledDomain(
                name=coordination.DOMAIN,
                noun="exercises",
                split=coordination.SPLIT,
                basis=("COMMUNICATE",),
                ids=lambda: tuple(coordination.exercises()),
                revision=coordination.exercises_revision,
            ),
            BundledDomain(
                name=scenarios.DOMAIN,
                noun="scenarios",
                split=scenarios.SPLIT,
                basis=scoring.BASIS,
                ids=lambda: tuple(scenarios.scenarios()),
                revision=scenarios.scenarios_revision,
                kind=lambda task_id: scenarios.scenario(task_id).kind,
            ),
        )
    }
)
"""By name, in the order in which they are listed."""
