"""MemberTasks: which member of a team is asked which task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adk_agent.core.errors import RequestError
from adk_agent.core.plan import Participant, PlannedTasks
from tau_bridge.benchmarks import Benchmarks

MOST_NAMED = 10
"""Tasks that a warning names."""


@dataclass(frozen=True, kw_only=True)
class MemberTasks:
    """The members that are asked, the tasks that one of them plays, and what was left out."""

    participants: tuple[Participant, ...]
    tasks: tuple[PlannedTasks, ...]
    warnings: tuple[str, ...] = ()


def member_tasks(
    planned: Sequence[PlannedTasks],
    asked: Sequence[Participant],
    members: Sequence[Participant],
    benchmarks: Benchmarks,
) -> MemberTasks:
    """Leave each task that is for one member to that member alone.

    Args:
        planned: The tasks of each domain.
        asked: The members that get questions.
        members: The whole team; empty where the participants are none: an agent that answers alone
            then plays every task, as it stands for its team.
        benchmarks: Know the tasks.

    Raises:
        RequestError: A domain needs a member that is not there, or no task is for those asked.
    """
    if not members:
        return MemberTasks(participants=tuple(asked), tasks=tuple(planned))
    for each in planned:
        _require_members(each.domain, benchmarks, members)
    with_roles = [_with_roles(each, benchmarks) for each in planned]
    roles = {each.role for each in asked}
    kept, warnings = [], []
    for each in with_roles:
        left = {task_id: role for task_id, role in each.roles.items() if role not in roles}
        ids = tuple(task_id for task_id in each.task_ids if task_id not in left)
        if left:
            named = [f"{task_id} ({role!r})" for task_id, role in left.items()]
            more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
            warnings.append(
                f"tasks of {each.domain} that are for another member than the entry are not played: "
                f"{', '.join(named[:MOST_NAMED])}{more}"
            )
        if ids:
            known = {i: role for i, role in each.roles.items() if i in ids}
            kept.append(each.model_copy(update={"task_ids": ids, "roles": known}))
    if not kept:
        raise RequestError(f'{warnings[0]}; none is left: write "entry": "all", or their role')
    playing = tuple(who for who in asked if any(each.ids_for(who) for each in kept))
    return MemberTasks(participants=playing, tasks=tuple(kept), warnings=tuple(warnings))


def _require_members(domain: str, benchmarks: Benchmarks, members: Sequence[Participant]) -> None:
    needed = benchmarks.domain(domain).roles
    there = [each.role for each in members]
    missing = [role for role in needed if role not in there]
    if missing:
        raise RequestError(
            f"the tasks of {domain} need a team with the roles {_list(needed)}, and the request "
            f"names no {_list(missing)}: its participants are {_list(there)}"
        )


def _with_roles(planned: PlannedTasks, benchmarks: Benchmarks) -> PlannedTasks:
    """Return the tasks with the member that each is for, where its domain names members."""
    if not benchmarks.domain(planned.domain).roles:
        return planned
    benchmark = benchmarks.of(planned.domain)
    roles = {
        task_id: role
        for task_id in planned.task_ids
        if (role := benchmark.task(planned.domain, task_id).role) is not None
    }
    return planned.model_copy(update={"roles": roles})


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
