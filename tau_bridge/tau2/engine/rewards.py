"""Rewards: the official `reward_info` as the components of a task's result."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evals.outcome import Check, Scored, TaskResult
from tau_bridge.errors import HarnessError
from tau_bridge.tau2.scoring import component, show_arguments, statements_component
from tau_bridge.tau2.tasks import Task

_TOLERANCE = 1e-6


def cut_off(task: Task, termination: str) -> TaskResult:
    """Return the result of a conversation that was cut off, of which nothing is looked at."""
    criteria = task.evaluation_criteria
    basis = criteria.reward_basis if criteria is not None else ()
    return TaskResult(basis=basis, components=(), premature_end=termination)


def result_of(
    reward_info: Mapping[str, Any],
    task: Task,
    *,
    verdicts: Mapping[str, bool] | None,
    produced_by: str,
) -> TaskResult:
    """Return the components of a conversation that the official engine has scored.

    Args:
        reward_info: As the engine writes it.
        task: What was played.
        verdicts: What a judge found on each statement; None where there is no judge.
        produced_by: Who that judge is.

    Raises:
        HarnessError: The components do not make up the engine's own reward.
    """
    criteria = task.evaluation_criteria
    if criteria is None:
        return TaskResult(basis=(), components=())
    found = (
        component("DB", _database(reward_info.get("db_check"))),
        component("ENV_ASSERTION", _assertions(reward_info.get("env_assertions") or ())),
        component("ACTION", _actions(reward_info.get("action_checks") or ())),
        component("COMMUNICATE", _communicated(reward_info.get("communicate_checks") or ())),
        statements_component(criteria.nl_assertions or (), verdicts, produced_by),
    )
    result = TaskResult(basis=criteria.reward_basis, components=found)
    _require_same(result, reward_info)
    return result


def _require_same(result: TaskResult, reward_info: Mapping[str, Any]) -> None:
    """Check that the components multiply to the engine's reward, where all of them are scored."""
    counted = [each for each in result.components if each.name in result.basis]
    values = [each.outcome.value for each in counted if isinstance(each.outcome, Scored)]
    reward = reward_info["reward"]
    if len(values) == len(counted) and abs(math.prod(values) - reward) > _TOLERANCE:
        shown = {each.name: value for each, value in zip(counted, values, strict=True)}
        raise HarnessError(f"the official engine's reward is {reward}, but its checks say {shown}")


def _database(check: Mapping[str, Any] | None) -> list[Check]:
    if check is None:
        return []
    return [_check("the databases are as after the gold actions", met=check["db_match"])]


def _assertions(checks: Sequence[Mapping[str, Any]]) -> list[Check]:
    found = []
    for each in checks:
        wanted = each["env_assertion"]
        negated = "" if wanted.get("assert_value", True) else "not "
        call = f"{wanted['func_name']}({show_arguments(wanted['arguments'])})"
        text = f"{negated}{call} on the {wanted['env_type']}'s side"
        reason = None if each["met"] else wanted.get("message")
        found.append(_check(text, met=each["met"], reason=reason))
    return found


def _actions(checks: Sequence[Mapping[str, Any]]) -> list[Check]:
    return [
        _check(
            f"{each['action']['name']}({show_arguments(each['action']['arguments'])})",
            met=each["action_match"],
        )
        for each in checks
    ]


def _communicated(checks: Sequence[Mapping[str, Any]]) -> list[Check]:
    return [_check(each["info"], met=each["met"]) for each in checks]


def _check(text: str, *, met: bool, reason: str | None = None) -> Check:
    return Check(description=text, met=met, reason=reason)
