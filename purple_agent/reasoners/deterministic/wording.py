"""Wording: the sentences of the deterministic reasoner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from purple_agent.case import Json
from purple_agent.reasoners.deterministic.tools import Parameter, ToolIndex
from purple_agent.reasoners.deterministic.words import words_in

MAX_FIELDS: Final = 15
MAX_ROWS: Final = 10
LONGEST_VALUE: Final = 200

GREETING: Final = "Hello! How can I help you today?"
HANDED_OVER: Final = "This has been escalated: you are being transferred to a human agent."
GO_AHEAD: Final = "Do you confirm that I should go ahead (yes or no)?"
UNCHANGED: Final = "Nothing was changed. Please check what you gave me."


def plain(name: str) -> str:
    """Return a name as words: `update_task_status` is "update task status"."""
    return " ".join(words_in(name))


def shown(value: Json) -> str:
    """Return a value as text, shortened."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def fields(value: Mapping[str, Json]) -> str:
    """Return the fields of a record as words: "amount: 40, status: open"."""
    items = list(value.items())[:MAX_FIELDS]
    return ", ".join(f"{plain(key)}: {shown(item)}" for key, item in items)


def called(name: str, arguments: Mapping[str, Json]) -> str:
    """Return a call in words: "update task status (task id: T-1, status: completed)"."""
    return f"{plain(name)} ({fields(arguments)})" if arguments else plain(name)


def done(name: str, arguments: Mapping[str, Json], value: Json) -> str:
    """Say that a change was made, and what the tool answered."""
    answer = value if isinstance(value, dict) else {}
    news = {key: item for key, item in answer.items() if arguments.get(key, ...) != item}
    return f"Completed: {called(name, arguments)}." + (f" Result: {fields(news)}." if news else "")


def failed(name: str, arguments: Mapping[str, Json], text: str) -> str:
    """Say that a call failed, and what the tool answered."""
    return f"I could not {called(name, arguments)}: {shown(text).rstrip('.')}."


def unsure(name: str, arguments: Mapping[str, Json], text: str) -> str:
    """Say that it is not known whether a change was made, and why."""
    return f"It is not known whether this was done: {called(name, arguments)}. {shown(text)}"


def found(entity: str, value: Json) -> str:
    """Say what a read brought."""
    name = plain(entity).capitalize()
    if not isinstance(value, list):
        return f"{name}: {fields(value) if isinstance(value, dict) else shown(value)}."
    rows = [fields(row) if isinstance(row, dict) else shown(row) for row in value[:MAX_ROWS]]
    more = f" (the first {MAX_ROWS} are shown)" if len(value) > MAX_ROWS else ""
    return f"{name}: {len(value)} found{more}. {'; '.join(rows)}."


def question_for(name: str, missing: Sequence[Parameter]) -> str:
    """Ask for everything that is missing, in one question."""
    wanted = [
        f"the {plain(each.name)}"
        + (f" ({', '.join(map(shown, each.choices[:10]))})" if each.choices else "")
        for each in missing[:MAX_FIELDS]
    ]
    listed = wanted[0] if len(wanted) == 1 else f"{', '.join(wanted[:-1])} and {wanted[-1]}"
    return f"To {plain(name)}, I need some more information. Could you please tell me {listed}?"


def abilities(index: ToolIndex) -> str:
    """Say what the tools can do; empty without tools."""
    names = [plain(tool.name) for tool in (*index.reads, *index.writes)][:MAX_FIELDS]
    return f"I can help with: {', '.join(names)}. " if names else ""
