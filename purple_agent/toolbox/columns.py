"""Columns: repairs a call with a column that the tool does not have.

Only if the tool's answer lists its columns, and one of them is certainly meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from purple_agent.case import Json
from purple_agent.toolbox.names import matching_name

_QUOTED = r"[`'\"\[]?([A-Za-z_]\w{0,99}(?:\.\w{1,99})?)[`'\"\]]?"
# Error messages of SQLite, MySQL, PostgreSQL and tools that imitate them.
_COMPLAINT = re.compile(
    rf"\b(?:no such|unknown|invalid|unrecognized) (?:column|field)(?: name)?:? *{_QUOTED}"
    rf"|\b(?:column|field) {_QUOTED} (?:does not exist|is unknown|not found)",
    re.IGNORECASE,
)
# A list after the word, with commas or "and" between the names.
_KNOWN = re.compile(
    r"\b(?:columns|fields)(?: are)?:? *[\[({]?((?:[`'\"]?[A-Za-z_]\w*[`'\"]?(?:, *| and |\b))+)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_]\w*")


def renamed_column(complaint: str) -> tuple[str, str] | None:
    """Return the column that a tool does not know, and the known one that is certainly meant."""
    found = _COMPLAINT.search(complaint)
    if found is None:
        return None
    wrong = (found[1] or found[2]).rpartition(".")[2]
    known = _KNOWN.search(complaint, found.end())
    names = [] if known is None else [name for name in _NAME.findall(known[1]) if name != "and"]
    right = matching_name(wrong, names)
    return (wrong, right) if right is not None and right != wrong else None


def with_column(arguments: Mapping[str, Json], wrong: str, right: str) -> dict[str, Any]:
    """Return the arguments of a call with a column's name replaced in their values.

    The arguments' own names are not changed, because the tool knows those.
    """
    word = re.compile(rf"(?<![\w'\"]){re.escape(wrong)}(?![\w'\"])|(?<=\"){re.escape(wrong)}(?=\")")
    return {name: _replaced(value, wrong, right, word) for name, value in arguments.items()}


def _replaced(value: Json, wrong: str, right: str, word: re.Pattern[str]) -> Json:
    if isinstance(value, str):
        return word.sub(right, value)
    if isinstance(value, Mapping):
        return {
            right if key == wrong else key: _replaced(item, wrong, right, word)
            for key, item in value.items()
        }
    return (
        [_replaced(each, wrong, right, word) for each in value]
        if isinstance(value, list)
        else value
    )
