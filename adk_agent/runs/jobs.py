"""TrialJob: one trial of a plan, before it is played."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adk_agent.core.plan import EvaluationPlan, Participant
from adk_agent.results.summary import TrialKey
from tau_bridge.seeds import trial_seeds


@dataclass(frozen=True, kw_only=True)
class TrialJob:
    """One trial of the plan."""

    participant: Participant
    domain: str
    task_id: str
    trial: int
    seed: int

    @property
    def label(self) -> str:
        """The trial in words."""
        return f"{self.participant.address} {self.domain} {self.task_id} trial {self.trial}"

    @property
    def key(self) -> TrialKey:
        """The identity of the trial within its run."""
        return self.participant.address, self.domain, self.task_id, self.trial


def jobs_of(plan: EvaluationPlan) -> Iterator[TrialJob]:
    """Yield every trial of a plan, in order."""
    seeds = trial_seeds(plan.seed, plan.num_trials)
    for participant in plan.participants:
        for planned in plan.tasks:
            for task_id in planned.ids_for(participant):
                for trial, seed in enumerate(seeds):
                    yield TrialJob(
                        participant=participant,
                        domain=planned.domain,
                        task_id=task_id,
                        trial=trial,
                        seed=seed,
                    )
