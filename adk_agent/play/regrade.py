"""regrade: scores recorded conversations again, whichever benchmark reads their file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adk_agent.play.diagnosis import diagnose_trial
from evals.diagnosis import Diagnosis
from evals.outcome import Outcome, Scored, TaskResult, Unscored
from evals.reward import breakdown_of, reward_of
from evals.trace import Trace
from tau_bridge.benchmark import Benchmark, Recorded
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError

TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Regraded:
    """The new reward of every simulation beside the recorded one.

    `compared` counts those that have both; `different` names those whose two rewards differ. A
    row that was not compared says why as its `reason`.
    """

    simulations: list[dict[str, Any]]
    compared: int
    different: list[str]

    def to_json(self) -> dict[str, Any]:
        """Return the result with its stable keys."""
        return {
            "simulations": self.simulations,
            "compared": self.compared,
            "equal": self.compared - len(self.different),
            "different": self.different,
        }

    def not_compared(self) -> Counter[str]:
        """Count the simulations that were not compared, by reason."""
        return Counter(row["reason"] for row in self.simulations if row["reason"] is not None)


async def regrade(path: Path, benchmarks: Benchmarks) -> Regraded:
    """Score every conversation of a file again.

    Raises:
        DataError: No benchmark reads the file.
    """
    benchmark, recorded = read_recorded(path, benchmarks)
    rows = []
    compared = 0
    different = []
    for each in recorded:
        result = await benchmark.score(each.ref, each.played, _Verdicts(each.verdicts))
        outcome = reward_of(result) if result is not None else Unscored(reason="it has no result")
        reward = outcome.value if isinstance(outcome, Scored) else None
        rows.append(
            {
                "id": each.id,
                "task_id": each.ref.id,
                "status": outcome.status,
                "reward": reward,
                "recorded_reward": each.reward,
                "reward_breakdown": breakdown_of(result) if result is not None else {},
                "reason": _why_not_compared(each, outcome),
                "diagnosis": _diagnosis(each, benchmark, result, outcome),
            }
        )
        if each.reward is not None and reward is not None:
            compared += 1
            # Written so that a difference that is no number would count as one.
            if not abs(reward - each.reward) <= TOLERANCE:
                different.append(each.id)
    return Regraded(simulations=rows, compared=compared, different=different)


def read_recorded(path: Path, benchmarks: Benchmarks) -> tuple[Benchmark, Sequence[Recorded]]:
    """Read the conversations of a file, and return them with the benchmark that could.

    Raises:
        DataError: None does; says why not.
    """
    problems: list[DataError] = []
    for benchmark in benchmarks.all:
        try:
            recorded = benchmark.recorded(path)
        except DataError as error:
            problems.append(error)
        else:
            if recorded is not None:
                return benchmark, recorded
    if len(problems) == 1:
        raise problems[0]
    told = "; ".join(map(str, problems)) or "none reads recorded conversations"
    raise DataError(f"no benchmark can read {str(path)!r}: {told}")


class _Verdicts:
    """The verdicts of the judge of a recorded conversation. A `tau_bridge.benchmark.Judge`."""

    produced_by = "recorded"

    def __init__(self, verdicts: Mapping[str, bool] | None) -> None:
        self._verdicts = verdicts

    async def __call__(
        self,
        statements: Sequence[str],  # noqa: ARG002 - they were decided about already
        transcript: str,  # noqa: ARG002
    ) -> Mapping[str, bool] | None:
        return self._verdicts


def _diagnosis(
    recorded: Recorded, benchmark: Benchmark, result: TaskResult | None, outcome: Outcome
) -> dict[str, Any] | None:
    """Explain as JSON why a simulation did not pass; None where it did."""

    def explain(scored: TaskResult) -> Diagnosis | None:
        nothing_seen = Trace(trace_id=recorded.id, steps=())
        return benchmark.explain(recorded.ref, recorded.played, scored, nothing_seen)

    found = diagnose_trial(outcome, result, explain, label=f"simulation {recorded.id!r}")
    return found.model_dump(mode="json") if found is not None else None


def _why_not_compared(recorded: Recorded, outcome: Outcome) -> str | None:
    """Say which of the two rewards is missing, and why; None where both are there."""
    reasons = []
    if not isinstance(outcome, Scored):
        reasons.append(outcome.reason)
    if recorded.problem is not None:
        reasons.append(f"the recorded evaluation broke: {recorded.problem}")
    elif recorded.reward is None:
        reasons.append("no reward was recorded")
    return "; ".join(reasons) or None
