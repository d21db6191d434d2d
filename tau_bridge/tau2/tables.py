"""Copy-on-write databases, and how two of them are compared.

A domain's rows are kept once, as JSON; a conversation's database holds only the rows that it
looked up, each parsed afresh. So a new database costs microseconds, and two of them can differ
only in rows that either of them touched.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import Any, Protocol

from pydantic import BaseModel, ValidationError

from tau_bridge.errors import DataError, HarnessError


def dump(value: BaseModel) -> dict[str, Any]:
    """Return the model as plain values.

    Silent about values that the field's type does not allow: tools assign arguments unchecked,
    and the comparison has to see them as they are.
    """
    return value.model_dump(warnings=False)


def canonical_text(value: BaseModel) -> str:
    """Return the JSON text by which the official engine tells two states apart."""
    return json.dumps(dump(value), sort_keys=True, default=str)


def deep_update(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Merge `changes` into `base`, dictionaries recursively; neither is changed."""
    merged = dict(base)
    for key, value in changes.items():
        old = merged.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            merged[key] = deep_update(old, value)
        else:
            merged[key] = value
    return merged


class SharedRows:
    """The rows of one table as the data files give them, shared by all databases."""

    def __init__(self, name: str, model: type[BaseModel], rows: Mapping[str, Any]) -> None:
        self.name = name
        self.model = model
        self._texts = {key: json.dumps(row).encode() for key, row in rows.items()}
        self._parsed: dict[str, BaseModel] = {}

    def __contains__(self, key: object) -> bool:
        return key in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def fresh(self, key: str) -> BaseModel:
        """Parse a row for the caller alone.

        Raises:
            KeyError: There is no such row.
            HarnessError: The data of this row are invalid.
        """
        text = self._texts[key]
        try:
            return self.model.model_validate_json(text)
        except ValidationError as exc:
            raise HarnessError(
                f"row {key!r} of table {self.name!r} in the domain's data is invalid: {exc}"
            ) from exc

    def shared(self, key: str) -> BaseModel:
        """Return the row parsed once for all; do not change it."""
        if key not in self._parsed:
            self._parsed[key] = self.fresh(key)
        return self._parsed[key]


class Table(MutableMapping[str, BaseModel]):
    """One conversation's view of a table.

    Looking a row up by key gives a private copy; `values()` and `items()` give shared rows where
    there is no copy yet, because searching through them must not copy thousands.
    """

    def __init__(self, rows: SharedRows) -> None:
        self.rows = rows
        self.own: dict[str, BaseModel] = {}

    def __getitem__(self, key: str) -> BaseModel:
        if key in self.own:
            return self.own[key]
        return self.own.setdefault(key, self.rows.fresh(key))

    def __setitem__(self, key: str, row: BaseModel) -> None:
        self.own[key] = row

    def __delitem__(self, key: str) -> None:
        raise HarnessError(f"rows of {self.rows.name!r} cannot be deleted")

    def __contains__(self, key: object) -> bool:
        return key in self.own or key in self.rows

    def __iter__(self) -> Iterator[str]:
        yield from self.rows
        yield from (key for key in self.own if key not in self.rows)

    def __len__(self) -> int:
        return len(self.rows) + sum(key not in self.rows for key in self.own)

    def peek(self, key: str) -> BaseModel:
        """Return the row for reading only, without making a private copy."""
        return self.own[key] if key in self.own else self.rows.shared(key)

    def values(self) -> Iterator[BaseModel]:  # type: ignore[override]  # toolkits only iterate
        """Yield the rows for reading only, in order."""
        return (self.peek(key) for key in self)

    def items(self) -> Iterator[tuple[str, BaseModel]]:  # type: ignore[override]  # as above
        """Yield keys and rows for reading only, in order."""
        return ((key, self.peek(key)) for key in self)

    def differences(self, other: Table) -> list[str]:
        """Return the keys of rows that differ, sorted. Both tables must share their rows."""
        touched = self.own.keys() | other.own.keys()
        return sorted(key for key in touched if not self._same(other, key))

    def _same(self, other: Table, key: str) -> bool:
        if key not in self or key not in other:
            return False
        return canonical_text(self.peek(key)) == canonical_text(other.peek(key))


class StoredDatabase(Protocol):
    """A copy-on-write database."""

    def updated(self, changes: Mapping[str, Any]) -> StoredDatabase:
        """Return a database with `changes` merged into this one's content.

        Raises:
            HarnessError: The result is invalid.
        """

    def differences(self, other: Any) -> tuple[str, ...]:
        """Say where another database of the same kind differs, such as `orders['#W1']`."""


class TableDatabase:
    """A database of tables, each an attribute under its name, as the toolkits expect."""

    def __init__(self, rows: Mapping[str, SharedRows]) -> None:
        self.tables = {name: Table(shared) for name, shared in rows.items()}
        # Toolkits say `self.db.orders`.
        self.__dict__.update(self.tables)

    def updated(self, changes: Mapping[str, Any]) -> TableDatabase:
        """Return a database with `changes` (table, key, fields) merged into this one's rows.

        Raises:
            HarnessError: An unknown table, or a row that is invalid after the change.
        """
        new = TableDatabase({name: table.rows for name, table in self.tables.items()})
        for name, table in self.tables.items():
            new.tables[name].own.update(table.own)
        for name, rows in changes.items():
            if name not in new.tables or not isinstance(rows, Mapping):
                raise HarnessError(
                    f"initialization data name {name!r}, which is no table of this domain"
                )
            for key, fields in rows.items():
                new.tables[name][key] = _update_row(new.tables[name], key, fields)
        return new

    def differences(self, other: TableDatabase) -> tuple[str, ...]:
        """Name the rows that differ."""
        return tuple(
            f"{name}[{key!r}]"
            for name, table in self.tables.items()
            for key in table.differences(other.tables[name])
        )


def _update_row(table: Table, key: str, fields: Any) -> BaseModel:
    old = dump(table.peek(key)) if key in table else {}
    try:
        return table.rows.model.model_validate(deep_update(old, fields))
    except (ValidationError, AttributeError) as exc:
        raise HarnessError(
            f"initialization data make row {key!r} of {table.rows.name!r} invalid: {exc}"
        ) from exc


Database = StoredDatabase | BaseModel
"""One side's state: copy-on-write tables, or (where it is small) one plain model."""


def updated(database: Database, changes: Mapping[str, Any]) -> Database:
    """Merge `changes` into a database, and check everything again; return the new database.

    Raises:
        HarnessError: The result is invalid.
    """
    if not isinstance(database, BaseModel):
        return database.updated(changes)
    try:
        return type(database).model_validate(deep_update(dump(database), changes))
    except ValidationError as exc:
        raise HarnessError(f"initialization data make the database invalid: {exc}") from exc


def database_factory(model: type[BaseModel], content: Any) -> Callable[[], Database]:
    """Return a function that makes a new database of this content each time it is called.

    Raises:
        DataError: The content is not such a database.
    """
    try:
        model.model_validate(content)
    except ValidationError as exc:
        raise DataError(f"a database file is no {model.__name__}: {exc}") from exc
    return partial(model.model_validate, content)


def differences(one: Database, other: Database) -> tuple[str, ...]:
    """Say where two databases differ by their JSON text; empty where they are equal.

    Names rows (`orders['#W1']`), or for a plain model its top-level fields.
    """
    if type(one) is not type(other):
        return ("the kind of database",)
    if not isinstance(one, BaseModel):
        return one.differences(other)
    if not isinstance(other, BaseModel):
        return other.differences(one)
    if canonical_text(one) == canonical_text(other):
        return ()
    left, right = dump(one), dump(other)
    return tuple(sorted(key for key in left.keys() | right.keys() if not _same(left, right, key)))


def _same(left: Mapping[str, Any], right: Mapping[str, Any], key: str) -> bool:
    texts = [json.dumps(side.get(key), sort_keys=True, default=str) for side in (left, right)]
    return key in left and key in right and texts[0] == texts[1]
