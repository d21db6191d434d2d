"""row_of: the row of a report that a trial makes."""

from __future__ import annotations

from collections import Counter

from adk_agent.core.spending import NOTHING_SPENT, Spending
from adk_agent.play.outcomes import fault_of
from adk_agent.results.agent_usage import trial_usage
from adk_agent.results.summary import TrialRow
from adk_agent.runs.jobs import TrialJob
from evals.attribution.model import Attribution
from evals.diagnosis import Diagnosis
from evals.outcome import Outcome, Scored, TaskResult
from evals.reward import breakdown_of
from evals.trace import Trace
from evals.user_check import UserCheck
from tau_bridge.benchmark import Benchmark, Played

NOT_PLAYED = Played()
"""A conversation that never began."""


def counting(benchmark: Benchmark, result: TaskResult) -> TaskResult:
    """Return a result with the components that count by the benchmark's options."""
    basis = benchmark.basis()
    return result if basis is None else result.model_copy(update={"basis": basis})


def row_of(
    job: TrialJob,
    trace: Trace,
    outcome: Outcome,
    *,
    termination: str,
    played: Played = NOT_PLAYED,
    result: TaskResult | None = None,
    duration_ms: float = 0.0,
    diagnosis: Diagnosis | None = None,
    attribution: Attribution | None = None,
    spent: Spending = NOTHING_SPENT,
    stated_confidence: float | None = None,
    user_check: UserCheck | None = None,
    user_seed: int | None = None,
    play: int = 0,
) -> TrialRow:
    """Return the report's row of a trial that came to `outcome`."""
    return TrialRow(
        participant=job.participant.address,
        domain=job.domain,
        task_id=job.task_id,
        trial=job.trial,
        seed=job.seed,
        status=outcome.status,
        reward=outcome.value if isinstance(outcome, Scored) else None,
        reward_breakdown=breakdown_of(result) if result else {},
        components=result.components if result else (),
        basis=result.basis if result else (),
        reason=_reason_of(outcome),
        fault=fault_of(outcome),
        produced_by=outcome.produced_by if isinstance(outcome, Scored) else None,
        termination=termination,
        user=played.user,
        turns=played.turns,
        tool_calls=played.tool_calls,
        format_repairs=len(played.repairs),
        repair_kinds=dict(Counter(played.repairs)),
        duration_ms=duration_ms,
        total_tokens=spent.known_tokens,
        cost=spent.known_cost,
        agent_usage=trial_usage(trace),
        trace_id=trace.trace_id,
        diagnosis=diagnosis,
        user_check=user_check,
        play=play,
        user_seed=user_seed,
        attribution=attribution,
        stated_confidence=stated_confidence,
    )


def _reason_of(outcome: Outcome) -> str | None:
    if not isinstance(outcome, Scored):
        return outcome.reason
    return None if outcome.agent_error is None else outcome.agent_error.text
