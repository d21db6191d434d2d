"""SourceCatalogue: what can be asked for, from the task data that is there."""

from __future__ import annotations

from dataclasses import dataclass

from tau_bridge import coordination
from tau_bridge.errors import DataError
from tau_bridge.tau2.data import DataSource


@dataclass(frozen=True)
class SourceCatalogue:
    """The domains and task ids of a data source, and the exercises for teams beside them.

    An `adk_agent.planning.Catalogue`.
    """

    source: DataSource

    def domains(self) -> tuple[str, ...]:
        """All domains."""
        return (*self.source.domains(), coordination.DOMAIN)

    def task_ids(self, domain: str, split: str = "base") -> tuple[str, ...]:
        """The task ids of a split, in order."""
        if domain != coordination.DOMAIN:
            return self.source.task_ids(domain, split)
        if split != coordination.SPLIT:
            raise DataError(f"exercises have no split {split!r}, only {coordination.SPLIT!r}")
        return tuple(coordination.exercises())

    def all_task_ids(self, domain: str) -> tuple[str, ...]:
        """Every task id of a domain, whatever its split."""
        if domain == coordination.DOMAIN:
            return tuple(coordination.exercises())
        return tuple(self.source.tasks(domain))

    def playable_solo(self, domain: str, task_id: str) -> bool:
        """Whether a task can be played without a user."""
        return self.source.task(domain, task_id).playable_solo
