"""Wording: rules for reading requests that the benchmarks have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tau_bridge.errors import WordingError

TASK_NOUN: Final = r"(?:tasks?|taks|tsaks|scenarios?|problems?|instances?|samples?)"
"""A regular expression for the nouns that people use for tasks."""


def whole_id(said: str, ids: Iterable[str], *, what: str, shown_by: str) -> str:
    """Return the task's id, given whole (`q07_refund`) or by its number alone (`q07`).

    Raises:
        WordingError: `bad-number` where no task has it.
    """
    known = tuple(ids)
    found = [each for each in known if each == said or each.startswith(f"{said}_")]
    if len(found) == 1:
        return found[0]
    if "_" in said:
        return said  # planning names the nearest
    raise WordingError(
        "bad-number",
        f"there is no {what} {said!r}: `{shown_by}` shows their ids, of which the first is "
        f"{known[0]!r}",
    )
