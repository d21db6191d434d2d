"""PlayedRun: a run as exports see it, finished or not, without secrets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from adk_agent.core.errors import RequestError, StorageError
from adk_agent.core.plan import Participant, options_named
from adk_agent.core.redaction import ModelRedactor
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import DataOrigin, TrialKey, TrialRow
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import RunManifest, StoredTrials, TrialRecord, load_manifest
from evals.reward import pass_hat_k
from tau_bridge.run_view import PartView

Part = tuple[Participant, str]
"""A participant, and one domain that it played."""


def label_of(part: Part) -> str:
    """Return the part in words."""
    return f"{part[0].address} {part[1]}"


@dataclass(frozen=True, kw_only=True)
class PlayedRun:
    """A run and its trials. Exporters of benchmarks see the part of it that is in `RunView`.

    Args:
        manifest: What it was begun with.
        report: Its report, or one of the trials that ended so far.
        keys: By which its trials are found on disk, where nothing was masked; as in the report.
        stored: The trials on disk.
        redactor: Has masked manifest and report, and masks the trials.
    """

    manifest: RunManifest
    report: EvaluationReport
    keys: tuple[TrialKey, ...]
    stored: StoredTrials
    redactor: ModelRedactor = field(default_factory=ModelRedactor)

    def parts(self) -> list[Part]:
        """Return the participants with the domains in which they ended trials, in the plan's order."""
        played = {(row.participant, row.domain) for row in self.report.trials}
        plan = self.report.plan
        every = ((who, planned.domain) for who in plan.participants for planned in plan.tasks)
        return [(who, domain) for who, domain in every if (who.address, domain) in played]

    @property
    def run_id(self) -> str:
        """Return the run's id."""
        return self.report.run_id

    @property
    def created_at(self) -> datetime:
        """Return when it was begun."""
        return self.report.created_at

    @property
    def versions(self) -> Mapping[str, str]:
        """Return the versions that played it, by package."""
        return self.report.versions

    @property
    def origins(self) -> Mapping[str, DataOrigin]:
        """Return the data, by domain."""
        return self.manifest.data

    @property
    def num_trials(self) -> int:
        """Return how often each task was to be played."""
        return self.report.plan.num_trials

    @property
    def max_steps(self) -> int:
        """Return the bound of a conversation."""
        return self.report.plan.max_steps

    @property
    def seed(self) -> int:
        """Return the number from which the trials' seeds follow."""
        return self.report.plan.seed

    @property
    def user_llm_args(self) -> Mapping[str, Any]:
        """Return the arguments of the language model that played users."""
        return self.report.plan.user_llm_args

    @property
    def planned(self) -> Mapping[str, Sequence[str]]:
        """Return the ids of the tasks that were to be played, by domain."""
        return {planned.domain: planned.task_ids for planned in self.report.plan.tasks}

    def options(self, names: Collection[str]) -> Mapping[str, Any]:
        """Return the run's options of benchmarks, those of these names."""
        return options_named(self.report.plan, names)

    def pass_hat_k(self, part: PartView) -> Mapping[int, float | None]:
        """Return a part's pass^k by k, from the trials with a reward; the report rounds it."""
        rewards: dict[str, list[float]] = {}
        for row in self.rows(part):
            if row.reward is not None:
                rewards.setdefault(row.task_id, []).append(row.reward)
        return {k: pass_hat_k(rewards, k) for k in range(1, self.num_trials + 1)}

    def rows(self, part: PartView) -> list[TrialRow]:
        """Return a part's trials, in the plan's order."""
        participant, domain = part
        return [
            row
            for row in self.report.trials
            if (row.participant, row.domain) == (participant.address, domain)
        ]

    def records(self, part: PartView | None = None) -> Iterator[TrialRecord]:
        """Yield the trials of a part, or all, in the order in which they ended, with their traces.

        What evaluators made of them is left out: no format has a place for it.

        Raises:
            StorageError: One cannot be read.
        """
        wanted = {
            key
            for key, row in zip(self.keys, self.report.trials, strict=True)
            if part is None or (row.participant, row.domain) == (part[0].address, part[1])
        }
        for record in self.stored.records(wanted):
            yield self.redactor.model(record.model_copy(update={"evaluations": ()}))


def open_run(results_dir: Path, run_id: str, *, redactor: ModelRedactor) -> PlayedRun:
    """Open a run on disk, finished or not.

    Raises:
        RequestError: There is no such run, or no trial of it has ended.
        StorageError: It has no results, or they cannot be read, or its trials are not all there.
    """
    _, report = results_so_far(results_dir, run_id)
    if not report.trials:
        raise RequestError(
            f"run {run_id} has no trial that ended, so there is nothing to export yet"
        )
    keys = tuple(row.key for row in report.trials)
    stored = StoredTrials(results_dir, run_id)
    missing = stored.lacks(keys)
    if missing:
        raise StorageError(
            f"trials.jsonl of run {run_id} lacks {missing} of the {len(keys)} trials that its report "
            f"counts, so an export would not be whole; greenroom resume {run_id} --retry all plays "
            "them again"
        )
    return PlayedRun(
        manifest=redactor.model(load_manifest(results_dir, run_id)),
        report=redactor.model(report),
        keys=keys,
        stored=stored,
        redactor=redactor,
    )
