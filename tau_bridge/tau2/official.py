"""Writes tasks and rewards in the official τ² results format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evals.outcome import Check, Component
from tau_bridge.run_view import RowView
from tau_bridge.tau2.scoring import REGULAR_ENDS
from tau_bridge.tau2.tasks import EvaluationCriteria, Task


def task_record(record: Mapping[str, Any], domain: str) -> dict[str, Any]:
    """Return a task of a data file with all keys that the official model of it requires."""
    scenario = record["user_scenario"]
    instructions = scenario["instructions"]
    if isinstance(instructions, dict):
        scenario = {**scenario, "instructions": {"domain": domain, **instructions}}
    return {**record, "id": str(record["id"]), "user_scenario": scenario}


def reward_info(row: RowView, task: Task, *, actions_alone: bool) -> dict[str, Any]:
    """Return a scored trial's reward with what it was made of."""
    notes: dict[str, Any] = {"produced_by": row.produced_by}
    if row.termination not in REGULAR_ENDS:
        # As the official engine does: no component is looked at where a conversation was cut off.
        note = f"Simulation terminated prematurely. Termination reason: {row.termination}"
        return {"reward": row.reward, "reward_basis": None, "info": {**notes, "note": note}}
    if actions_alone:
        notes["note"] = "the reward compares actions alone; it is not the official product"
    return {
        "reward": row.reward,
        **_checks(row, task.evaluation_criteria),
        "reward_basis": list(row.basis),
        "reward_breakdown": {
            name: value
            for name, value in row.reward_breakdown.items()
            if name in row.basis and value is not None
        },
        "info": notes,
    }


def _checks(row: RowView, criteria: EvaluationCriteria | None) -> dict[str, Any]:
    if criteria is None:
        return {}
    found = {component.name: component for component in row.components}
    database = next(iter(_of(found.get("DB"))), None)
    return {
        "db_check": None if database is None else _database(database),
        "env_assertions": [
            {
                "env_assertion": assertion.model_dump(mode="json"),
                "met": check.met,
                "reward": _worth(check),
            }
            for assertion, check in _pair(criteria.env_assertions, found.get("ENV_ASSERTION"))
        ],
        "action_checks": [
            {
                "action": action.model_dump(mode="json"),
                "action_match": check.met,
                "action_reward": _worth(check),
            }
            for action, check in _pair(criteria.actions, found.get("ACTION"))
        ],
        "communicate_checks": [
            {"info": text, "met": check.met, "justification": check.reason or "looked for the text"}
            for text, check in _pair(criteria.communicate_info, found.get("COMMUNICATE"))
        ],
        "nl_assertions": [
            {"nl_assertion": text, "met": check.met, "justification": check.reason or "a verdict"}
            for text, check in _pair(criteria.nl_assertions, found.get("NL_ASSERTION"))
        ],
    }


def _pair(wanted: Sequence[Any] | None, component: Component | None) -> list[tuple[Any, Check]]:
    """Pair what a task wants with its checks; those without a verdict are left out."""
    checks = _of(component)
    if wanted is None or len(wanted) != len(checks):
        return []
    return [pair for pair in zip(wanted, checks, strict=True) if pair[1].met is not None]


def _of(component: Component | None) -> tuple[Check, ...]:
    return component.checks if component is not None else ()


def _database(check: Check) -> dict[str, Any]:
    return {"db_match": bool(check.met), "db_reward": _worth(check)}


def _worth(check: Check) -> float:
    return 1.0 if check.met else 0.0
