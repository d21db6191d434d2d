"""EvaluationReport and its rows: the structured result that everything else is made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, TypeAdapter

from adk_agent.plan import BUILTIN_PREFIX, EvaluationPlan
from adk_agent.team_summary import TeamRow
from evals.base import Evaluation, Scope
from evals.outcome import Component, Fault
from evals.reward import is_success, pass_hat_k

SCHEMA_VERSION = "1"
FLOOR = f"{BUILTIN_PREFIX}null"
"""The agent that does nothing: what it passes, an agent passes without any doing of its own."""
CEILING = f"{BUILTIN_PREFIX}oracle"
"""The agent that replays the gold actions: what it does not pass, no agent can be blamed for."""


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DataOrigin(_Row):
    """Where a domain's tasks and databases came from."""

    source: str
    revision: str


class TrialRow(_Row):
    """What one trial came to.

    `reward` is None unless `status` is scored; `reason` says why. `fault` names the side on
    which a failed trial broke. `turns` counts the agent's replies.
    """

    participant: str
    domain: str
    task_id: str
    trial: int
    seed: int
    status: Literal["scored", "unscored", "failed"]
    reward: float | None
    reward_breakdown: dict[str, float | None]
    components: tuple[Component, ...] = ()
    basis: tuple[str, ...] = ()
    reason: str | None
    fault: Fault | None = None
    produced_by: str | None = None
    termination: str
    user: str
    turns: int
    tool_calls: int
    format_repairs: int
    duration_ms: float
    total_tokens: int | None = None
    cost: float | None = None
    trace_id: str

    @property
    def passed(self) -> bool:
        """Whether the trial was scored and passed."""
        return self.reward is not None and is_success(self.reward)

    @property
    def label(self) -> str:
        """The trial in words."""
        return f"{self.participant} {self.domain} {self.task_id} trial {self.trial}"


class SummaryRow(_Row):
    """One participant in one domain.

    `mean_reward` and `pass_hat_k` are over scored trials alone; `mean_reward_all` counts every
    trial that has no reward as 0 (the platform's way). Both are None where nothing was scored.
    """

    participant: str
    role: str
    domain: str
    tasks: int
    trials: int
    scored: int
    unscored: int
    failed: int
    passed: int
    format_repairs: int
    pass_hat_k: dict[str, float | None]
    mean_reward: float | None
    mean_reward_all: float | None
    data: DataOrigin
    user: str


class TrialEvaluations(_Row):
    """Evaluators' results over one trial, all trials of a participant, or the run."""

    scope: Scope
    participant: str | None = None
    """None where the scope is the run."""
    domain: str | None = None
    task_id: str | None = None
    trial: int | None = None
    results: tuple[Evaluation, ...]


class EvaluationReport(_Row):
    """The result of one run. Its keys are stable within a `schema_version`."""

    schema_version: str = SCHEMA_VERSION
    run_id: str
    status: Literal["complete", "incomplete", "interrupted"]
    """Incomplete: some trial failed, so the figures lack it. Interrupted: trials are missing."""
    request: str
    plan: EvaluationPlan
    created_at: AwareDatetime
    versions: dict[str, str]
    warnings: tuple[str, ...] = ()
    summary: tuple[SummaryRow, ...]
    trials: tuple[TrialRow, ...]
    teams: tuple[TeamRow, ...] = ()
    """How the teams behind the participants coordinate, where anything of it could be seen."""
    evaluations: tuple[TrialEvaluations, ...]

    def to_json(self) -> str:
        """The report as indented JSON, ending in a newline."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> EvaluationReport:
        """The report that `to_json` wrote.

        Raises:
            pydantic.ValidationError: `text` is no such report.
        """
        return _REPORT.validate_json(text)


_REPORT: TypeAdapter[EvaluationReport] = TypeAdapter(EvaluationReport)


def summarise(
    trials: Sequence[TrialRow], plan: EvaluationPlan, origins: Mapping[str, DataOrigin]
) -> tuple[SummaryRow, ...]:
    """One row for each participant and domain of the plan, in its order."""
    grouped: dict[tuple[str, str], list[TrialRow]] = defaultdict(list)
    for trial in trials:
        grouped[trial.participant, trial.domain].append(trial)
    return tuple(
        _summary_row(
            grouped[participant.address, planned.domain],
            participant=participant.address,
            role=participant.role,
            domain=planned.domain,
            num_trials=plan.num_trials,
            origin=origins[planned.domain],
        )
        for participant in plan.participants
        for planned in plan.tasks
    )


def _summary_row(
    trials: Sequence[TrialRow],
    *,
    participant: str,
    role: str,
    domain: str,
    num_trials: int,
    origin: DataOrigin,
) -> SummaryRow:
    rewards: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        if trial.reward is not None:
            rewards[trial.task_id].append(trial.reward)
    values = [reward for task_rewards in rewards.values() for reward in task_rewards]
    users = sorted({trial.user for trial in trials})
    return SummaryRow(
        participant=participant,
        role=role,
        domain=domain,
        tasks=len({trial.task_id for trial in trials}),
        trials=len(trials),
        scored=len(values),
        unscored=sum(trial.status == "unscored" for trial in trials),
        failed=sum(trial.status == "failed" for trial in trials),
        passed=sum(trial.passed for trial in trials),
        format_repairs=sum(trial.format_repairs for trial in trials),
        pass_hat_k={str(k): _rounded(pass_hat_k(rewards, k)) for k in range(1, num_trials + 1)},
        mean_reward=_rounded(sum(values) / len(values) if values else None),
        mean_reward_all=_rounded(sum(values) / len(trials) if values else None),
        data=origin,
        user=", ".join(users) if users else "none",
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def leaderboard_row(report: EvaluationReport) -> dict[str, Any]:
    """The row that AgentBeats leaderboards query, for the report's first participant.

    `score` counts passed trials and `max_score` scored ones, and `pass_rate` is their share in
    percent: a trial without a score is not the agent's miss. `max_score_all` and `pass_rate_all`
    count every trial. `task_rewards` holds the mean reward of each task. `floor` and `ceiling` are
    the pass rates of the null agent and of the oracle, where they played the same tasks. What has
    no value because nothing was scored, or nobody played it, is None.
    """
    participant = report.plan.participants[0].address
    rows = _rows_of(report, participant)
    trials = [trial for trial in report.trials if trial.participant == participant]
    task_rewards: dict[str, list[float]] = {}
    several = len(report.plan.tasks) > 1
    for trial in trials:
        key = f"{trial.domain}/{trial.task_id}" if several else trial.task_id
        rewards = task_rewards.setdefault(key, [])
        if trial.reward is not None:
            rewards.append(trial.reward)
    passed = sum(row.passed for row in rows)
    scored = sum(row.scored for row in rows)
    return {
        "domain": ",".join(row.domain for row in rows),
        "score": passed,
        "max_score": scored,
        "pass_rate": _pass_rate(rows),
        "task_rewards": {
            key: round(sum(rewards) / len(rewards), 6) if rewards else None
            for key, rewards in task_rewards.items()
        },
        "time_used": round(sum(trial.duration_ms for trial in trials) / 1000, 3),
        "max_score_all": len(trials),
        "pass_rate_all": round(100 * passed / len(trials), 4) if scored else None,
        "unscored": sum(row.unscored for row in rows),
        "failed": sum(row.failed for row in rows),
        "participant": participant,
        "floor": _pass_rate(_rows_of(report, FLOOR)),
        "ceiling": _pass_rate(_rows_of(report, CEILING)),
    }


def _rows_of(report: EvaluationReport, participant: str) -> list[SummaryRow]:
    return [row for row in report.summary if row.participant == participant]


def _pass_rate(rows: Sequence[SummaryRow]) -> float | None:
    """Percent of the scored trials that passed."""
    scored = sum(row.scored for row in rows)
    return round(100 * sum(row.passed for row in rows) / scored, 4) if scored else None


SICKLY_SHARE = 0.5
"""From this share of its scored trials on, an agent's odd replies are warned about."""


def sickly(trials: Sequence[TrialRow]) -> list[str]:
    """Warnings about participants that hardly speak the wire.

    Their trials are scored, as the rules demand, but a broken agent often passes tasks in which
    nothing should be done: such a score says little.
    """
    warnings = []
    for participant in dict.fromkeys(trial.participant for trial in trials):
        scored = [t for t in trials if t.participant == participant and t.status == "scored"]
        mute = sum(trial.termination == "agent_error" for trial in scored)
        garbled = sum(trial.format_repairs >= trial.turns > 0 for trial in scored)
        for count, what in (
            (mute, "ended because the agent sent nothing that can be played"),
            (garbled, "needed repairs in every reply"),
        ):
            if scored and count >= SICKLY_SHARE * len(scored):
                warnings.append(f"{participant}: {count} of {len(scored)} scored trials {what}")
    return warnings


def failed_reasons(trials: Sequence[TrialRow]) -> dict[str, int]:
    """How often each reason stands behind a trial without a reward, most frequent first."""
    counts: dict[str, int] = defaultdict(int)
    for trial in trials:
        if trial.reason is not None and trial.status != "scored":
            counts[trial.reason] += 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
