"""Listing: the list that a request asks for, from a tool's latest result."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from purple_agent.case import Case, Json
from purple_agent.memory.transcript import current_turn
from purple_agent.toolbox.verbs import words_of

_WORD = re.compile(r"[^\W_]+")


def list_read(case: Case) -> list[Json] | None:
    """Return the requested values from the latest list that was read, or None if there is no list.

    For records, these are the values of the one field that the request names, else their ids; only
    records with a value that the request names ("open orders") count.
    """
    found = _latest_list(case)
    if found is None:
        return None
    if not any(isinstance(each, Mapping | list) for each in found):
        return list(found)
    records = [each for each in found if isinstance(each, Mapping)]
    wanted = frozenset(_singular(word) for word in _WORD.findall(case.incoming.text.casefold()))
    field = _field(records, wanted) if len(records) == len(found) else None
    if field is None:
        return None
    return [each[field] for each in records if _is_wanted(each, records, wanted)]


def _latest_list(case: Case) -> Sequence[Json] | None:
    for entry in reversed(current_turn(case.session.entries)):
        if entry.result is None or entry.result.failed:
            continue
        value = entry.result.value
        if isinstance(value, Mapping):
            lists = [each for each in value.values() if isinstance(each, list)]
            value = lists[0] if len(lists) == 1 else None
        if isinstance(value, list):
            return value
    return None


def _field(records: Sequence[Mapping[str, Json]], wanted: frozenset[str]) -> str | None:
    """Return the field of all records that the request names, else that of their ids."""
    shared = [name for name in records[0] if all(name in each for each in records)]
    named = [name for name in shared if wanted.issuperset(map(_singular, words_of(name)))]
    ids = [name for name in shared if words_of(name)[-1:] == ("id",)]
    if len(named) == 1:
        return named[0]
    return ids[0] if ids and not named else None


def _is_wanted(
    record: Mapping[str, Json], records: Sequence[Mapping[str, Json]], wanted: frozenset[str]
) -> bool:
    conditions = {
        name
        for each in records
        for name, value in each.items()
        if isinstance(value, str) and value.casefold() in wanted
    }
    return all(str(record.get(name, "")).casefold() in wanted for name in conditions)


def _singular(word: str) -> str:
    return word.removesuffix("s") if len(word) > 2 else word
