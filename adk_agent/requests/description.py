"""Descriptions of a plan: lines for a person, and the equivalent command."""

from __future__ import annotations

import json
import shlex
from typing import Any

from adk_agent.core.plan import (
    EVERY_MEMBER,
    EvaluationPlan,
    EvaluationRequest,
    PlannedTasks,
    Selection,
)
from tau_bridge.benchmark import BASE_SPLIT
from tau_bridge.isolation.limits import MOST_PROBES

_IDS_SHOWN = 8


def equivalent_command(plan: EvaluationPlan) -> str:
    """Return a shell command that plays exactly this plan, with every setting explicit."""
    config: dict[str, Any]
    if len(plan.tasks) == 1:
        config = {"domain": plan.tasks[0].domain, "task_ids": list(plan.tasks[0].task_ids)}
    else:
        ids = {each.domain: list(each.task_ids) for each in plan.tasks}
        config = {"domain": list(ids), "task_ids": ids}
    settings = (
        *("solo", "evaluation_type", "options", "user_llm", "user_llm_args"),
        *("isolation", "confidence"),
    )
    changed = plan.model_dump(mode="json", include=set(settings), exclude_defaults=True)
    config |= {name: changed[name] for name in settings if name in changed}
    if plan.members:
        config["entry"] = entry_of(plan)
    record = {
        "participants": {each.role: each.address for each in plan.members or plan.participants},
        "config": config,
    }
    flags = {
        "--num-trials": plan.num_trials,
        "--max-concurrency": plan.max_concurrency,
        "--seed": plan.seed,
        "--max-steps": plan.max_steps,
    }
    words = ["greenroom", "run", json.dumps(record, ensure_ascii=False)]
    words += [str(word) for flag in flags.items() for word in flag]
    words += ["--retry-user", str(plan.retry_user)] if plan.retry_user else []
    words += ["--judge-user"] if plan.judge_user else []
    words += ["--chaos", str(plan.chaos)] if plan.chaos is not None else []
    words += [word for path in plan.task_files for word in ("--tasks", path)]
    return shlex.join(words)


def entry_of(plan: EvaluationPlan) -> str:
    """Return the role that answers for a plan's team, or `all`."""
    return plan.participants[0].role if len(plan.participants) == 1 else EVERY_MEMBER


def _chaos_lines(plan: EvaluationPlan) -> list[str]:
    """Say under which faults every trial is played again."""
    if plan.chaos is None:
        return []
    names = ", ".join(plan.chaos.families)
    return [f"Faults ({plan.chaos}): each scored trial is played again under each of: {names}"]


def conversations(plan: EvaluationPlan) -> str:
    """Return the number of conversations, and that with those under injected faults."""
    if plan.most_conversations == plan.total_trials:
        return str(plan.total_trials)
    return f"{plan.total_trials} (up to {plan.most_conversations} with those under faults)"


def describe(plan: EvaluationPlan) -> str:
    """Describe the plan in lines for a person."""
    lines = ["Participants:"]
    lines += [f"  {each.role}: {each.address}" for each in plan.members or plan.participants]
    if plan.members:
        lines.append(f"  They are one team; its entry: {entry_of(plan)}")
    lines.append("Tasks:")
    for each in plan.tasks:
        shown = ", ".join(each.task_ids[:_IDS_SHOWN])
        more = len(each.task_ids) - _IDS_SHOWN
        lines.append(
            f"  {each.domain}: {len(each.task_ids)} ({shown}{f', {more} more' if more > 0 else ''})"
        )
        lines += _reasons(each)
    default = "the configured model, scripted where there is none"
    user = "none (solo)" if plan.solo else plan.user_llm or default
    lines += [
        f"Trials of each task: {plan.num_trials}",
        f"Conversations in all: {conversations(plan)}, at most {plan.max_concurrency} at a time",
        *_chaos_lines(plan),
        (
            f"Seed: {plan.seed}; at most {plan.max_steps} steps; user: {user}; "
            f"scoring: {plan.evaluation_type}"
        ),
    ]
    if plan.retry_user:
        times = "once" if plan.retry_user == 1 else f"{plan.retry_user} times"
        lines.append(f"A trial whose user has a proven fault is played again, at most {times}")
    if plan.judge_user:
        lines.append("A judge looks for faults of the user, with a call for each trial")
    if plan.isolation:
        lines.append(f"Probes of isolation after the trials: at most {MOST_PROBES} for each agent")
    if plan.confidence:
        lines.append("The agents are asked to state their confidence in each trial")
    if plan.reasoning:
        lines.append(f"Why: {plan.reasoning}")
    lines += [f"Warning: {warning}" for warning in plan.warnings]
    return "\n".join(lines)


def _reasons(planned: PlannedTasks) -> list[str]:
    """Say why each of the first tasks was chosen, a line each."""
    chosen = [task_id for task_id in planned.task_ids if task_id in planned.reasons]
    lines = [f"    {each}: {planned.reasons[each]}" for each in chosen[:_IDS_SHOWN]]
    more = len(chosen) - _IDS_SHOWN
    return [*lines, f"    ({more} more)"] if more > 0 else lines


def in_brief(request: EvaluationRequest) -> str:
    """Describe a request in one line: `builtin:null on 5 shop tasks, 2 trials each`."""
    agents = " and ".join(participant.address for participant in request.participants)
    tasks = " and ".join(map(_in_brief, request.selections))
    trials = f", {request.num_trials} trials each" if (request.num_trials or 1) > 1 else ""
    return f"{agents} on {tasks}{trials}"


def _in_brief(selection: Selection) -> str:
    about = f" about {selection.about!r}" if selection.about else ""
    about += "".join(f" with {name} {value}" for name, value in selection.where.items())
    about += f" of the split {selection.split!r}" if selection.split != BASE_SPLIT else ""
    if selection.task_ids:
        return f"{selection.domain} task {', '.join(selection.task_ids[:_IDS_SHOWN])}{about}"
    how_many = "all" if selection.num_tasks is None else str(selection.num_tasks)
    return f"{how_many} {selection.domain} tasks{about}"
