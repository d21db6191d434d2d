"""RecordDatabase: tables of plain JSON records, which conversations share until they touch them.

Tools write into the records that they get from any lookup or loop, so a whole table is the unit of
copying: it is parsed when a conversation first looks at it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from tau_bridge.errors import DataError, HarnessError
from tau_bridge.tau2.tables import deep_update

Records = dict[str, dict[str, Any]]


class RecordTable:
    """One table: `data` are its records by id, `notes` a remark of the data files."""

    def __init__(self, text: str) -> None:
        self.text = text
        """The JSON that it was made of; it stands for the content until `data` is asked for."""
        self._content: dict[str, Any] | None = None

    @property
    def data(self) -> Records:
        """Return the records, for reading and writing."""
        records: Records = self.content()["data"]
        return records

    @property
    def notes(self) -> str:
        """Return the remark."""
        return str(self.content()["notes"])

    @property
    def touched(self) -> bool:
        """Tell whether anybody has looked at it, and so may have changed it."""
        return self._content is not None

    def content(self) -> dict[str, Any]:
        """Return records and remark, parsed for this table alone."""
        if self._content is None:
            self._content = {"data": {}, "notes": "", **json.loads(self.text)}
        return self._content

    def differences(self, other: RecordTable) -> list[str]:
        """Return the ids of records that differ, and `notes` where they do, sorted."""
        if self.text == other.text and not (self.touched or other.touched):
            return []
        found = [key for key in self.data.keys() | other.data.keys() if not _same(self, other, key)]
        return sorted(found) + (["notes"] if self.notes != other.notes else [])


class RecordDatabase:
    """A database of tables, each an attribute under its name, as the toolkits expect."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.tables = {name: RecordTable(text) for name, text in texts.items()}
        self.__dict__.update(self.tables)

    def updated(self, changes: Mapping[str, Any]) -> RecordDatabase:
        """Return a database with `changes` (table, `data`, id, field) merged into this one.

        Raises:
            HarnessError: They name an unknown table, or are no tables.
        """
        _check(changes, self.tables, HarnessError, "initialization data")
        new = RecordDatabase({})
        for name, table in self.tables.items():
            if name in changes or table.touched:
                merged = deep_update(table.content(), changes.get(name, {}))
                text = json.dumps(merged)
            else:
                text = table.text
            new.tables[name] = RecordTable(text)
        new.__dict__.update(new.tables)
        return new

    def differences(self, other: RecordDatabase) -> tuple[str, ...]:
        """Name the records that differ by their JSON text."""
        return tuple(
            f"{name}[{key!r}]"
            for name, table in self.tables.items()
            for key in table.differences(other.tables[name])
        )


def record_database_factory(
    names: Iterable[str], content: Any, domain: str
) -> Callable[[], RecordDatabase]:
    """Return a function that makes a new database of this content each time it is called.

    Args:
        names: Its tables; those that the content lacks are empty.
        content: The parsed file.
        domain: For the message of an error.

    Raises:
        DataError: The content is not such a database.
    """
    tables = dict.fromkeys(names, "{}")
    _check(content, tables, DataError, f"the database of {domain}")
    return partial(RecordDatabase, tables | {n: json.dumps(each) for n, each in content.items()})


def _check(content: Any, names: Iterable[str], error: type[Exception], what: str) -> None:
    if not isinstance(content, Mapping):
        raise error(f"{what} must be an object of tables, not a {type(content).__name__}")
    for name, table in content.items():
        if name not in names:
            raise error(f"{what} has a table {name!r}; known: {', '.join(sorted(names))}")
        records = table.get("data", {}) if isinstance(table, Mapping) else None
        if not isinstance(records, Mapping) or not table.keys() <= {"data", "notes"}:
            raise error(f"{what}: table {name!r} must be an object with `data` and `notes` alone")
        wrong = next((key for key, row in records.items() if not isinstance(row, Mapping)), None)
        if wrong is not None:
            raise error(f"{what}: record {wrong!r} of table {name!r} must be an object")


def _same(one: RecordTable, other: RecordTable, key: str) -> bool:
    if key not in one.data or key not in other.data:
        return False
    return _text(one.data[key]) == _text(other.data[key])


def _text(record: Any) -> str:
    # The text by which the official engine tells two states apart.
    return json.dumps(record, sort_keys=True, default=str)
