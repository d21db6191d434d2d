"""Descriptions of τ²-bench tasks: a title, texts to be searched, and attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tau_bridge.tau2.kinds import has_statements, kind_of
from tau_bridge.tau2.one_text import read_scenario
from tau_bridge.tau2.tasks import Description, EvaluationCriteria, Instructions, Task
from tau_bridge.tau2.tool_names import ToolNames

_TOPIC_ID = re.compile(r"\[(?P<topic>\w+)\](?P<parts>[^\[]*)(?:\[PERSONA:(?P<persona>\w+)\])?")
"""An id that says what its task is about, as `[mms_issue]airplane_mode_on|bad_vpn[PERSONA:Easy]`."""
_NAME = re.compile(
    r"\b(?:[Yy]ou are|[Yy]our? name is|Customer name:|[Yy]our character(?: is|:\*\*)|named)\s+"
    r"(?:You are )?([A-Z][\w'-]+ [A-Z][\w'-]+)"
)
_USER_ID = re.compile(r"\b([a-z]+)_([a-z]+)_\d+\b")
_FIRST_SENTENCE = re.compile(r".+?[.!?](?=\s|$)", re.DOTALL)
_GREETING = re.compile(r"^(?:Hi|Hello|Hey)(?: there)?[!,.] *(?=[A-Z])")
_ROLE = re.compile(r"You are playing the role of a customer\b[^.]*\.\s*")
"""A sentence about the game and not about the task."""


def title_of(task: Task) -> str:
    """Return what a task is about: what its id says, its purpose, or why the user calls."""
    told = _TOPIC_ID.match(task.id)
    if told is not None:
        parts = ", ".join(told["parts"].split("|"))
        return f"{told['topic']}: {parts}".replace("_", " ")
    text = purpose_of(task) or _GREETING.sub("", reason_of(task).strip())
    first = _FIRST_SENTENCE.match(text.strip())
    return " ".join((first[0] if first is not None else text).split())


def purpose_of(task: Task) -> str:
    """Return the purpose in a task's description; empty without one, or where it is the id."""
    given = task.description
    purpose = (given.purpose or "") if isinstance(given, Description) else (given or "")
    return "" if purpose.removeprefix("Task: ") == task.id else purpose


def reason_of(task: Task) -> str:
    """Return the reason why the user calls: in a text, the words to open with if it has some."""
    instructions = task.user_scenario.instructions
    if not isinstance(instructions, str):
        return instructions.reason_for_call
    read, opening = read_scenario(instructions)
    return opening or _ROLE.sub("", read.reason_for_call).strip()


def passages_of(task: Task, *, solo: bool) -> Mapping[str, str]:
    """Return everything that tells what a task is about, by name, as it is played.

    Without a user that is the ticket, which nobody sees otherwise.
    """
    given = task.description
    passages = {
        "purpose": purpose_of(task),
        "notes": (given.notes or "") if isinstance(given, Description) else "",
        **({"ticket": task.ticket or ""} if solo else _scenario(task)),
        "solution": "\n".join(_solution(task.evaluation_criteria or EvaluationCriteria())),
    }
    return {name: text for name, text in passages.items() if text}


def _scenario(task: Task) -> dict[str, str]:
    given = task.user_scenario.instructions
    if isinstance(given, str):
        reason = reason_of(task)
        given = Instructions(
            reason_for_call=reason, task_instructions="" if reason == given else given
        )
    return {
        "reason for the call": given.reason_for_call,
        "instructions": given.task_instructions,
        "known to the user": given.known_info or "",
        "persona": task.user_scenario.persona or "",
    }


def _solution(criteria: EvaluationCriteria) -> Iterator[str]:
    """Yield the gold actions' names with the texts among their arguments, and what is to be told."""
    for action in criteria.actions or ():
        entities = ", ".join(dict.fromkeys(_texts(action.arguments)))
        yield f"{action.name.replace('_', ' ')}{f' ({entities})' if entities else ''}"
    yield from criteria.communicate_info or ()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("_", " ")
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def attributes_of(task: Task, tools: ToolNames) -> Mapping[str, str]:
    """Return the facts about a task that it can be chosen by."""
    criteria = task.evaluation_criteria or EvaluationCriteria(reward_basis=())
    actions = criteria.actions or ()
    changes = sum(tools.changes_data(action.name, action.arguments) for action in actions)
    told = _TOPIC_ID.match(task.id)
    person = person_of(task)
    return {
        "gold_actions": str(len(actions)),
        "changes": str(changes),
        "writes": _yes(changes > 0),
        "needs_judge": _yes(has_statements(criteria)),
        "passed_by_doing_nothing": _yes(kind_of(task, tools).asks_nothing),
        **({"person": person} if person else {}),
        **({"intent": told["topic"]} if told else {}),
        **({"persona": told["persona"].lower()} if told and told["persona"] else {}),
    }


def person_of(task: Task) -> str:
    """Return the name of the person who calls; empty where it is not told."""
    known = "\n".join(_scenario(task).values())
    named = _NAME.search(known)
    if named is not None:
        return named[1]
    user = _USER_ID.search(known)
    return f"{user[1]} {user[2]}".title() if user is not None else ""


def _yes(value: bool) -> str:
    return "yes" if value else "no"
