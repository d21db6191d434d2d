"""regrade: scores the conversations of an official results file again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adk_agent.play.diagnosis import diagnose_played, diagnose_trial
from evals.diagnosis import Diagnosis
from evals.outcome import Outcome, Scored, TaskResult
from evals.reward import breakdown_of, reward_of
from tau_bridge.tau2.data import DataSource
from tau_bridge.tau2.domains import Domain, load_domain
from tau_bridge.tau2.results import RecordedResults, RecordedSimulation, read_results
from tau_bridge.tau2.scoring import score_components

TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Regraded:
    """Every simulation's new reward beside the recorded one.

    `compared` counts those that have both; `different` names those whose two rewards differ. A
    row that was not compared says why as its `reason`.
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

    def not_compared(self) -> Counter[str]:
        """How many simulations were not compared, by reason."""
        return Counter(row["reason"] for row in self.simulations if row["reason"] is not None)


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
                "reason": _why_not_compared(simulation, outcome),
                "diagnosis": _diagnosis(simulation, recorded, domain, result, outcome),
            }
        )
        if simulation.reward is not None and reward is not None:
            compared += 1
            # Written so that a difference that is no number would count as one.
            if not abs(reward - simulation.reward) <= TOLERANCE:
                different.append(simulation.id)
    return Regraded(simulations=rows, compared=compared, different=different)


def _diagnosis(
    simulation: RecordedSimulation,
    recorded: RecordedResults,
    domain: Domain,
    result: TaskResult,
    outcome: Outcome,
) -> dict[str, Any] | None:
    """Why it did not pass, as JSON; None where it did."""

    def explain(scored: TaskResult) -> Diagnosis:
        return diagnose_played(
            domain,
            recorded.tasks[simulation.task_id],
            scored,
            simulation.messages,
            termination=simulation.termination_reason,
            solo=simulation.solo,
        )

    found = diagnose_trial(outcome, result, explain, label=f"simulation {simulation.id!r}")
    return found.model_dump(mode="json") if found is not None else None


def _why_not_compared(simulation: RecordedSimulation, outcome: Outcome) -> str | None:
    """Which of the two rewards is missing, and why; None where both are there."""
    reasons = []
    if not isinstance(outcome, Scored):
        reasons.append(outcome.reason)
    if simulation.eval_error is not None:
        reasons.append(f"the recorded evaluation broke: {simulation.eval_error}")
    elif simulation.reward is None:
        reasons.append("no reward was recorded")
    return "; ".join(reasons) or None
