"""Reads the text of an exercise: titled records of `- key: value` lines, then questions. Pure.

Text in another form has no records and no questions; nothing here raises.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MAX_LINES = 2_000
"""Most lines to read; the rest of a longer text is ignored."""
KNOWN_LINE = "Known so far:"
EXERCISE_LINE = "The exercise:"
"""Each is on a line of its own in messages between members."""

_QUESTIONS = "questions"
_ROW = re.compile(r"- ([^:]{1,80}): (.{1,400})")
_NUMBERED = re.compile(r"\d{1,2}\. (.{1,400})")

Facts = Mapping[str, str]
"""Findings of members, by the name of the fact."""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """The contents of an exercise. Titles and keys are in lower case."""

    records: Mapping[str, tuple[tuple[str, str], ...]]
    """The rows of each record, by its title."""
    questions: tuple[str, ...]

    def value(self, record: str, key: str) -> str | None:
        """Return the first value of a key in a record, or None."""
        return next(iter(self.values(record, key)), None)

    def values(self, record: str, key: str) -> tuple[str, ...]:
        """Return all values of a key in a record, in order."""
        return tuple(value for found, value in self.records.get(record, ()) if found == key)


def read_exercise(text: str) -> Exercise:
    """Read the records and questions in a text."""
    records: dict[str, list[tuple[str, str]]] = {}
    questions: list[str] = []
    title = ""
    for line in map(str.strip, text.splitlines()[:MAX_LINES]):
        row = _ROW.fullmatch(line)
        asked = _NUMBERED.fullmatch(line)
        if row is not None:
            records.setdefault(title, []).append((row[1].lower(), row[2]))
        elif asked is not None and title == _QUESTIONS:
            questions.append(asked[1])
        elif line:
            title = line.lower()
    return Exercise(
        records={title: tuple(rows) for title, rows in records.items()},
        questions=tuple(questions),
    )


def with_facts(opening: str, facts: Facts, exercise: str) -> str:
    """Return a message between members: an opening line, the known facts and the exercise."""
    known = [KNOWN_LINE, *(f"- {name}: {value}" for name, value in facts.items()), ""]
    return "\n".join([opening, "", *(known if facts else []), EXERCISE_LINE, "", exercise])


def split_text(text: str) -> tuple[dict[str, str], str]:
    """Return the facts and the exercise that `with_facts` wrote; any other text is all exercise."""
    head, line, exercise = text.partition(f"\n{EXERCISE_LINE}\n\n")
    if not line:
        return {}, text
    return read_facts(head), exercise


def read_facts(text: str) -> dict[str, str]:
    """Read the facts after the line `KNOWN_LINE`; none if there is no such line."""
    rows = text.partition(KNOWN_LINE)[2].splitlines()[:MAX_LINES]
    found = (_ROW.fullmatch(row) for row in rows)
    return {row[1]: row[2] for row in found if row is not None}
