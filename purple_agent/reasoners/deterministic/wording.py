"""Wording: the sentences of the deterministic reasoner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from purple_agent.case import Json
from purple_agent.reasoners.deterministic.index import Parameter, ToolIndex
from purple_agent.reasoners.deterministic.words import stem, stems, words_in

MOST_FIELDS: Final = 15
MOST_ROWS: Final = 10
LONGEST_VALUE: Final = 200

COMPLIMENT: Final = "You are doing a great job, and it is a pleasure to work with you."
WELCOME: Final = "You are welcome."
GREETING: Final = "Hello! How can I help you today?"
HANDED_OVER: Final = "This has been escalated: you are being transferred to a human agent."
PARTLY: Final = "A part of what you ask is something that I have no tool for."
OFFER_HUMAN: Final = "Would you like me to transfer you to a human agent?"
GO_AHEAD: Final = "Do you confirm that I should go ahead (yes or no)?"


def plain(name: str) -> str:
    """A name as words: `update_task_status` is "update task status"."""
    return " ".join(words_in(name))


def shown(value: Json) -> str:
    """A value as text, shortened."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, bool) or value is None:
        text = {True: "yes", False: "no", None: "none"}[value]
    else:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def called(name: str, arguments: Mapping[str, Json]) -> str:
    """A call in words: "update task status (task id: T-1, status: completed)"."""
    parts = ", ".join(f"{plain(key)}: {shown(value)}" for key, value in arguments.items())
    return f"{plain(name)} ({parts})" if parts else plain(name)


def done(name: str, arguments: Mapping[str, Json], value: Json) -> str:
    """That a change was made, with what the tool said of it."""
    told = fields(value, skip=arguments) if isinstance(value, dict) else ""
    return f"Completed: {called(name, arguments)}." + (f" Result: {told}." if told else "")


def fields(value: Mapping[str, Json], *, skip: Mapping[str, Json] | None = None) -> str:
    """The fields of a record: "amount: 40, status: open"."""
    left = {key: item for key, item in value.items() if (skip or {}).get(key, ...) != item}
    return ", ".join(
        f"{plain(key)}: {shown(item)}" for key, item in list(left.items())[:MOST_FIELDS]
    )


def told(entity: str, value: Json, question: str) -> str:
    """What a read brought, the fields that the question names alone where it names any."""
    if isinstance(value, dict):
        wanted = set(stems(question))
        named = {
            key: item
            for key, item in value.items()
            if wanted & set(map(stem, words_in(key))) - {"id"}
            and key != "id"
            and not key.endswith("_id")
        }
        ids = {key: item for key, item in value.items() if key == "id" or key.endswith("_id")}
        record = {**dict(list(ids.items())[:1]), **named} if named else value
        return f"{plain(entity).capitalize()}: {fields(record)}."
    if isinstance(value, list):
        rows = "; ".join(
            fields(row) if isinstance(row, dict) else shown(row) for row in value[:MOST_ROWS]
        )
        more = f" (the first {MOST_ROWS} are shown)" if len(value) > MOST_ROWS else ""
        return f"{plain(entity).capitalize()}: {len(value)} found{more}. {rows}".strip() + "."
    return f"{plain(entity).capitalize()}: {shown(value)}."


def question_for(name: str, missing: Sequence[Parameter]) -> str:
    """One question for everything that is missing."""
    wanted = [_wanted(each) for each in missing[:MOST_FIELDS]]
    listed = wanted[0] if len(wanted) == 1 else f"{', '.join(wanted[:-1])} and {wanted[-1]}"
    return f"To {plain(name)}, I need some more information. Could you please tell me {listed}?"


def _wanted(parameter: Parameter) -> str:
    choices = f" ({', '.join(map(shown, parameter.choices[:10]))})" if parameter.choices else ""
    return f"the {plain(parameter.name)}{choices}"


def abilities(index: ToolIndex) -> str:
    """What the tools can do, in words."""
    names = [plain(tool.name) for tool in index.tools if not tool.role][:MOST_FIELDS]
    return f"I can help with: {', '.join(names)}. " if names else ""


def failed(name: str, arguments: Mapping[str, Json], text: str) -> str:
    """That a change could not be made, with what the tool said."""
    return f"I could not {called(name, arguments)}: {shown(text).rstrip('.')}."


def unsure(name: str, arguments: Mapping[str, Json], text: str) -> str:
    """That it is not known whether a change was made, with why."""
    return f"It is not known whether this was done: {called(name, arguments)}. {shown(text)}"
