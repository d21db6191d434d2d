"""Agent usage: the tokens and the cost that agents report of their own models.

An agent writes these figures itself and nobody can check them. They stand apart from what the
assessor's own models used, and enter no budget.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from evals.trace import (
    ASSESSOR,
    REPORTED_COMPLETION_TOKENS,
    REPORTED_PROMPT_TOKENS,
    REPORTED_USAGE,
    REPORTED_USAGE_IGNORED,
    CallType,
    InteractionStep,
    Provenance,
    Trace,
)


class _Usage(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cost: float | None = None
    """In US dollars."""
    ignored: int = 0
    """Reported values that are no amount."""


class TrialUsage(_Usage):
    """The sums over an agent's replies in one trial; None where no reply reports the figure."""

    replies: int
    """Its replies, also those that report nothing."""
    with_tokens: int
    """The replies that report their tokens."""
    with_cost: int
    """The replies that report their cost."""

    @property
    def is_known(self) -> bool:
        """True if a reply reports tokens or cost."""
        amounts = (self.prompt_tokens, self.completion_tokens, self.total_tokens, self.cost)
        return any(amount is not None for amount in amounts)

    @property
    def whole_cost(self) -> float | None:
        """The cost of the trial; None unless every reply reports its part."""
        return self.cost if self.with_cost == self.replies else None


class AgentUsage(_Usage):
    """The sums over an agent's trials, and what a pass costs it."""

    trials: int
    """Trials for which it reports tokens or cost."""
    mean_cost: float | None = None
    """Mean cost of a scored trial."""
    passes_per_dollar: float | None = None
    """Trials that passed, by the cost of all scored trials."""
    unscored: str | None = None
    """Why `passes_per_dollar` is None."""


class UsedTrial(Protocol):
    """The part of a trial's row that is needed here."""

    @property
    def agent_usage(self) -> TrialUsage | None:
        """The usage that the agent reports."""

    @property
    def reward(self) -> float | None:
        """None unless it is scored."""

    @property
    def passed(self) -> bool:
        """True if it was scored and passed."""


def trial_usage(trace: Trace) -> TrialUsage | None:
    """Return what the agent reported along with its replies in a trial; None if it never did."""
    steps = [step for step in trace.of_type(CallType.AGENT) if _is_reply(step)]
    reports = [step for step in steps if REPORTED_USAGE in step.additional_attributes]
    ignored = sum(_counted(step, REPORTED_USAGE_IGNORED) or 0 for step in steps)
    if not reports and not ignored:
        return None
    costs = [step.cost for step in reports if step.cost is not None]
    tokens = [step.total_tokens for step in reports if step.total_tokens is not None]
    return TrialUsage(
        replies=len(steps),
        with_tokens=len(tokens),
        with_cost=len(costs),
        prompt_tokens=_total([_counted(step, REPORTED_PROMPT_TOKENS) for step in reports]),
        completion_tokens=_total([_counted(step, REPORTED_COMPLETION_TOKENS) for step in reports]),
        total_tokens=sum(tokens) if tokens else None,
        cost=_cost(costs),
        ignored=ignored,
    )


def agent_usage(trials: Sequence[UsedTrial], *, counts_passes: bool = True) -> AgentUsage | None:
    """Add up what an agent reports of its trials; None if it reports nothing.

    Args:
        trials: The trials of one agent.
        counts_passes: False where headlines replace the number of trials that passed.
    """
    reports = [trial.agent_usage for trial in trials if trial.agent_usage is not None]
    if not reports:
        return None
    scored = [trial for trial in trials if trial.reward is not None]
    costs = [None if each.agent_usage is None else each.agent_usage.whole_cost for each in scored]
    known = [cost for cost in costs if cost is not None]
    is_whole = bool(known) and len(known) == len(scored)
    spent, passed = sum(known), sum(trial.passed for trial in scored)
    reason = _why_unscored(len(scored), len(known), spent, counts_passes=counts_passes)
    return AgentUsage(
        trials=sum(report.is_known for report in reports),
        prompt_tokens=_total([report.prompt_tokens for report in reports]),
        completion_tokens=_total([report.completion_tokens for report in reports]),
        total_tokens=_total([report.total_tokens for report in reports]),
        cost=_cost([report.cost for report in reports]),
        ignored=sum(report.ignored for report in reports),
        mean_cost=round(spent / len(known), 9) if is_whole else None,
        passes_per_dollar=None if reason else round(passed / spent, 6),
        unscored=reason,
    )


def usage_warnings(trials: Sequence[tuple[str, TrialUsage | None]]) -> list[str]:
    """Warn about reported values that are no amounts, for each agent.

    Args:
        trials: The agent and the usage of each trial.
    """
    ignored: dict[str, int] = {}
    for participant, usage in trials:
        ignored[participant] = ignored.get(participant, 0) + (usage.ignored if usage else 0)
    return [
        f"{participant} reported {count} values of tokens or cost that are no amounts (negative, "
        "beyond all bounds, or no numbers); they were left out"
        for participant, count in ignored.items()
        if count
    ]


def _why_unscored(scored: int, known: int, spent: float, *, counts_passes: bool) -> str | None:
    if not counts_passes:
        return "its tasks answer different questions, so passes are not counted"
    if not scored:
        return "no trial was scored"
    if not known:
        return "the agent did not report the whole cost of any scored trial"
    if known < scored:
        return f"the agent reported the whole cost of only {known} of {scored} scored trials"
    return None if spent > 0 else "the agent reported a cost of 0"


def _is_reply(step: InteractionStep) -> bool:
    """Tell whether a step is a call of the assessor that the agent answered, or reports on."""
    ours = step.caller == ASSESSOR and step.provenance is Provenance.OBSERVED
    told = {REPORTED_USAGE, REPORTED_USAGE_IGNORED} & step.additional_attributes.keys()
    return ours and (step.error is None or bool(told))


def _counted(step: InteractionStep, name: str) -> int | None:
    text = step.additional_attributes.get(name, "")
    return int(text) if text.isdecimal() else None  # redaction may have taken a secret out of it


def _total(amounts: Sequence[int | None]) -> int | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if known else None


def _cost(amounts: Sequence[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known), 9) if known else None
