"""Kinds of τ²-bench tasks, taken from the tasks' own data, without playing them."""

from __future__ import annotations

import re

from tau_bridge.sampling import TaskKind
from tau_bridge.tau2.tasks import EvaluationCriteria, Task
from tau_bridge.tau2.tool_names import ToolNames

_TOPIC = re.compile(r"\[(\w+)\]")
"""The topic in brackets at the beginning of an id, as in `[mms_issue]bad_vpn[PERSONA:Easy]`."""


def kind_of(task: Task, tools: ToolNames) -> TaskKind:
    """Return a task's kind: what it is judged by, its topic, and how much has to be changed."""
    criteria = task.evaluation_criteria or EvaluationCriteria(reward_basis=())
    actions = criteria.actions or ()
    writes = [
        tools.acting(action.name, action.arguments)
        for action in actions
        if tools.changes_data(action.name, action.arguments)
    ]
    topic = _TOPIC.match(task.id)
    return TaskKind(
        asks_nothing=not _asks_something(criteria, writes),
        traits=(
            "statements" if has_statements(criteria) else "",
            topic[1] if topic is not None else "",
            # 1, 2 to 3, 4 to 7 ... writes; without any, whether there is something to look up.
            f"writes {len(writes).bit_length()}" if writes else "reads" if actions else "",
            " ".join(sorted(set(writes))),
        ),
    )


def has_statements(criteria: EvaluationCriteria) -> bool:
    """Tell whether a judge of statements has a part in the reward."""
    return "NL_ASSERTION" in criteria.reward_basis and bool(criteria.nl_assertions)


def _asks_something(criteria: EvaluationCriteria, writes: list[str]) -> bool:
    """Tell whether any component of the reward asks for something to be done or said.

    The reward of doing nothing is not measured here: that would need the domain's tools and
    databases, which take seconds to load. The criteria are right for all but a few tasks, whose
    gold actions fail or cancel each other out.
    """
    asked = {
        "DB": writes,
        "ENV_ASSERTION": criteria.env_assertions,
        "ACTION": criteria.actions,
        "COMMUNICATE": criteria.communicate_info,
        "NL_ASSERTION": criteria.nl_assertions,
    }
    return any(asked[component] for component in criteria.reward_basis)
