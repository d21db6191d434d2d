"""regrade: scores the conversations of an official results file again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.outcome import Scored
from evals.reward import breakdown_of, reward_of
from tau_bridge.tau2.data import DataSource
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.results import read_results
from tau_bridge.tau2.scoring import score_components

TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Regraded:
    """Every simulation's new reward beside the recorded one.

    `compared` counts those that have both; `different` names those whose two rewards differ.
    """

    simulations: list[dict[str, Any]]
    compared: int
    different: list[str]

    def to_json(self) -> dict[str, Any]:
        """The result with its stable keys."""
        return {
            "simulations": self.simulations,
            "compared": self.compared,
            "equal": self.compared - len(self.different),
            "different": self.different,
        }


def regrade(path: Path, source: DataSource) -> Regraded:
    """Score every simulation of a file with the tasks that it embeds.

    Raises:
        DataError: the file is no results file, or its domain is not known.
    """
    recorded = read_results(path)
    domain = load_domain(source, recorded.domain)
    rows = []
    compared = 0
    different = []
    for simulation in recorded.simulations:
        result = score_components(
            domain,
            recorded.tasks[simulation.task_id],
            simulation.messages,
            termination=simulation.termination_reason,
            solo=simulation.solo,
            nl_verdicts=simulation.nl_verdicts,
        )
        outcome = reward_of(result)
        reward = outcome.value if isinstance(outcome, Scored) else None
        rows.append(
            {
                "id": simulation.id,
                "task_id": simulation.task_id,
                "status": outcome.status,
                "reward": reward,
                "recorded_reward": simulation.reward,
                "reward_breakdown": breakdown_of(result),
                "reason": None if isinstance(outcome, Scored) else outcome.reason,
            }
        )
        if simulation.reward is not None and reward is not None:
            compared += 1
            if abs(reward - simulation.reward) > TOLERANCE:
                different.append(simulation.id)
    return Regraded(simulations=rows, compared=compared, different=different)
