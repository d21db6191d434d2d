"""SourceCatalogue: what can be asked for, from the task data that is there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tau_bridge.bundled_domains import BUNDLED_DOMAINS
from tau_bridge.sampling import TaskKind
from tau_bridge.tau2.data import DataSource
from tau_bridge.tau2.kinds import kind_of
from tau_bridge.tau2.tool_names import TOOL_NAMES


@dataclass(frozen=True)
class SourceCatalogue:
    """The domains and task ids of a data source, and the bundled domains beside them.

    An `adk_agent.requests.planning.Catalogue`.
    """

    source: DataSource

    def domains(self) -> tuple[str, ...]:
        """All domains."""
        return (*self.source.domains(), *BUNDLED_DOMAINS)

    def task_ids(self, domain: str, split: str = "base") -> tuple[str, ...]:
        """The task ids of a split, in order."""
        if domain in BUNDLED_DOMAINS:
            return BUNDLED_DOMAINS[domain].task_ids(split)
        return self.source.task_ids(domain, split)

    def all_task_ids(self, domain: str) -> tuple[str, ...]:
        """Every task id of a domain, whatever its split."""
        if domain in BUNDLED_DOMAINS:
            return BUNDLED_DOMAINS[domain].ids()
        return tuple(self.source.tasks(domain))

    def kinds(self, domain: str, task_ids: Iterable[str]) -> Mapping[str, TaskKind] | None:
        """The kinds of tasks by id; None where the domain has one kind of task."""
        if domain not in BUNDLED_DOMAINS:
            tools = TOOL_NAMES[domain]
            return {each: kind_of(self.source.task(domain, each), tools) for each in task_ids}
        kind = BUNDLED_DOMAINS[domain].kind
        return None if kind is None else {each: kind(each) for each in task_ids}

    def playable_solo(self, domain: str, task_id: str) -> bool:
        """Whether a task can be played without a user."""
        return self.source.task(domain, task_id).playable_solo
