"""The reward of a task from its components, and pass^k over its trials.

Reward: the product of the components that the task's `reward_basis` names
(Barres et al., "τ²-Bench", 2025). pass^k: Yao et al., "τ-bench", 2024.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from evals.outcome import Component, Failed, Outcome, Scored, TaskResult, Unscored

Key = TypeVar("Key", bound=Hashable)

PASS_THRESHOLD = 1.0 - 1e-6
"""A reward from here on counts as a success, as in the official engine."""


def reward_of(result: TaskResult) -> Outcome:
    """Return the reward (0.0 or 1.0), or why there is none.

    A conversation that was cut off has reward 0 whatever its components say. A component that
    broke leaves the task failed. One of the basis that could not be scored leaves it unscored,
    even beside a 0: were only the zeros of such tasks kept, their mean would be biased.
    """
    if result.premature_end is not None:
        return Scored(value=0.0, produced_by="rules")
    if any(_broke(component) for component in result.components):
        return next(c.outcome for c in result.components if _broke(c))
    by_name = {component.name: component for component in result.components}
    missing = [name for name in result.basis if name not in by_name]
    if missing:
        return Failed(reason=f"no component {', '.join(missing)} was computed", fault="harness")
    outcomes = [by_name[name].outcome for name in result.basis]
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Unscored)]
    if reasons:
        return Unscored(reason="; ".join(reasons))
    scored = [outcome for outcome in outcomes if isinstance(outcome, Scored)]
    makers = "+".join(sorted({outcome.produced_by for outcome in scored})) or "rules"
    return Scored(value=math.prod(outcome.value for outcome in scored), produced_by=makers)


def _broke(component: Component) -> bool:
    # The official evaluation raises as a whole when any part of it raises.
    return isinstance(component.outcome, Failed)


def action_reward(result: TaskResult) -> Outcome:
    """Return the legacy reward: the ACTION component alone, whatever the basis says."""
    only_actions = result.model_copy(update={"basis": ("ACTION",)})
    return reward_of(only_actions)


def breakdown_of(result: TaskResult) -> dict[str, float | None]:
    """Return each component's value by name; None where it has none."""
    return {
        component.name: component.outcome.value if isinstance(component.outcome, Scored) else None
        for component in result.components
    }


def is_success(reward: float) -> bool:
    """Check whether a reward counts as passed."""
    return reward >= PASS_THRESHOLD


def pass_hat_k(rewards_by_task: Mapping[str, Iterable[float]], k: int) -> float | None:
    """Estimate pass^k: the chance that k trials of a task, drawn without replacement, all pass.

    The mean of `pass_hat_k_by_task`. None where no task has k scored trials.

    Raises:
        ValueError: k is below 1.
    """
    estimates = pass_hat_k_by_task(rewards_by_task, k)
    return sum(estimates.values()) / len(estimates) if estimates else None


def pass_at_k_by_task(rewards_by_task: Mapping[Key, Iterable[float]], k: int) -> dict[Key, float]:
    """Estimate each task's pass@k, the chance that one of k passes: 1 - C(failures, k) / C(n, k).

    The unbiased estimator of Chen et al., "Evaluating Large Language Models Trained on Code"
    (arXiv 2107.03374). From 0 to 1. Tasks with fewer than k scored trials are left out.

    Raises:
        ValueError: k is below 1.
    """
    missed = {
        task: [float(not is_success(reward)) for reward in rewards]
        for task, rewards in rewards_by_task.items()
    }
    return {task: 1 - all_miss for task, all_miss in pass_hat_k_by_task(missed, k).items()}


def pass_hat_k_by_task(rewards_by_task: Mapping[Key, Iterable[float]], k: int) -> dict[Key, float]:
    """Estimate each task's pass^k: C(successes, k) / C(trials, k), from 0 to 1.

    Tasks with fewer than k scored trials are left out.

    Raises:
        ValueError: k is below 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    estimates = {}
    for task, rewards in rewards_by_task.items():
        passed = [is_success(reward) for reward in rewards]
        if len(passed) >= k:
            estimates[task] = math.comb(sum(passed), k) / math.comb(len(passed), k)
    return estimates
