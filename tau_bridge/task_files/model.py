"""The form of a task file: tasks, tools as tables, and what is expected.

`load` reads a file; an error names the file, the line and the key, and the nearest right word.
"""

from __future__ import annotations

import contextlib
import gc
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import jsonschema
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from tau_bridge.errors import DataError, nearest
from tau_bridge.task_files.checks import Expectation, Text, as_checks, as_list, same
from tau_bridge.task_files.documents import Document, read_document

DOMAIN_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,40}")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Row(_Part):
    """One row of a tool's table: `give` is the result of calls that have the arguments `when`."""

    when: dict[str, Any] = {}
    give: Any = None
    error: bool = False
    """The result is an error; nothing is written."""


class Access(_Part):
    """Access to a table of the file: the row that the argument `key` names."""

    table: str
    key: str
    values: dict[str, Any] = {}
    """Columns that a call sets; `$name` stands for an argument of it."""


class Tool(_Part):
    """A tool: what it gives stands in its rows, the first that fits, or in a table."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_.-]*$")]
    description: str = ""
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    results: tuple[Row, ...] = ()
    reads: Access | None = None
    sets: Access | None = None
    otherwise: Any = {"error": "not found"}
    """The result of a call that nothing else fits."""

    @model_validator(mode="after")
    def _check(self) -> Tool:
        try:
            jsonschema.Draft202012Validator.check_schema(self.parameters)
        except jsonschema.SchemaError as error:
            raise ValueError(f"parameters are no JSON Schema: {error.message}") from error
        if self.reads is not None and self.sets is not None:
            raise ValueError("a tool has 'reads' or 'sets', not both: 'sets' gives the row as well")
        for number, row in enumerate(self.results):
            for earlier, other in enumerate(self.results[:number]):
                if _covers(other.when, row.when):
                    raise ValueError(
                        f"result {number + 1} is never given: result {earlier + 1} fits the same "
                        "calls, and comes first"
                    )
        return self


def _covers(general: Mapping[str, Any], special: Mapping[str, Any]) -> bool:
    """Tell whether calls with the arguments `special` are among those with `general`."""
    return all(name in special and same(special[name], value) for name, value in general.items())


class MadeCall(_Part):
    """A call of a solution."""

    name: str
    arguments: dict[str, Any] = {}


class Gold(_Part):
    """A solution: calls, then an answer; several answers where the user goes on."""

    calls: tuple[MadeCall, ...] = ()
    answer: Annotated[tuple[Text, ...], BeforeValidator(as_list)] = ()


class Person(_Part):
    """A user who is played: by a language model, or from the facts by rules."""

    goal: str = ""
    persona: str = ""
    facts: dict[str, Text] = {}


class Task(_Part):
    """One task: what the user says, and what is expected of the agent."""

    id: Text
    prompt: str
    title: str = ""
    system: str | None = None
    """Instead of the file's."""
    user: tuple[str, ...] | Person = ()
    """Further turns, or a person who is played."""
    expect: Annotated[tuple[Expectation, ...], BeforeValidator(as_checks), Field(min_length=1)]
    gold: Gold | None = None
    attributes: dict[str, Text] = {}


class TaskFile(_Part):
    """A whole file."""

    name: Annotated[str, Field(pattern=f"^{DOMAIN_NAME.pattern}$")]
    description: str = ""
    system: str = ""
    tools: tuple[Tool, ...] = ()
    tables: dict[str, dict[str, dict[str, Any]]] = {}
    tasks: Annotated[tuple[Task, ...], Field(min_length=1)]

    def uses(self, kind: str) -> bool:
        """Tell whether a task has a check of a kind."""
        return any(
            inner.kind == kind
            for task in self.tasks
            for each in task.expect
            for inner in each.each()
        )


def load(path: Path) -> TaskFile:
    """Read a task file.

    Raises:
        DataError: It cannot be used; the message names the line and the key.
    """
    with _uncollected():
        return parse(read_document(path))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Hold garbage collection back: it would search many new objects again and again, all in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse(document: Document) -> TaskFile:
    """Return the tasks of a document.

    Raises:
        DataError: It cannot be used; the message names the line and the key.
    """
    value, prefix = _in_full(document)
    try:
        found = TaskFile.model_validate(value)
    except ValidationError as error:
        raise DataError(_worded(error, document, prefix)) from error
    _check_names(found, document, prefix)
    return found


def _in_full(document: Document) -> tuple[dict[str, Any], int]:
    """Return the content as a file in full, and how many keys stand in front of its tasks."""
    value = document.value
    stem = re.sub(r"[^a-z0-9_-]+", "-", document.path.stem.lower()).strip("-") or "tasks"
    name = stem if stem[0].isalpha() else f"tasks-{stem}"
    if isinstance(value, list):
        return {"name": name, "tasks": _records(value)}, 0
    if isinstance(value, dict):
        tasks = value.get("tasks")
        return {"name": name, **value, "tasks": _records(tasks)}, 1
    raise DataError(f"{document.path.name}: holds no tasks; see: greenroom tasks new")


def _records(tasks: Any) -> Any:
    if not isinstance(tasks, list):
        return tasks if tasks is not None else []
    return [_record(each, number) for number, each in enumerate(tasks, start=1)]


def _record(task: Any, number: int) -> Any:
    """Return a task with an id; `input` with `target` or `expected` is the short form of one."""
    if not isinstance(task, dict):
        return task
    found = {"id": str(number), **task}
    if "input" not in found:
        return found
    found["prompt"] = found.pop("input")
    for key in ("target", "expected"):
        if key in found and "expect" not in found:
            right = found.pop(key)
            every = right if isinstance(right, list) else [right]
            found["expect"] = [{"any": [{"contains": each} for each in every]}]
            found.setdefault("gold", {"answer": every[:1]})
    return found


def _worded(error: ValidationError, document: Document, prefix: int) -> str:
    errors = error.errors(include_url=False)
    # An unknown key is most often a known one, misspelled, which is then missing.
    beside = [each for each in errors if each["loc"][:-1] == errors[0]["loc"][:-1]]
    first = next((each for each in beside if each["type"] == "extra_forbidden"), errors[0])
    at = [part for part in first["loc"] if not _is_branch(part)]
    line = document.line_of(at if prefix else at[1:])
    where = ".".join(map(str, at)) or "the file"
    problem = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        known = _keys_at(at[:-1])
        problem = f"unknown key {at[-1]!r}: {nearest(str(at[-1]), known)}"
    elif first["type"] == "missing":
        problem = f"the key {at[-1]!r} is missing"
    others = [each["loc"] for each in errors if each is not first]
    more = sum(loc != first["loc"][: len(loc)] for loc in others)  # the rest follows from it
    rest = f" (and {more} more)" if more else ""
    return f"{document.path.name}, line {line}: {where}: {problem}{rest}"


def _is_branch(part: str | int) -> bool:
    """Tell whether a part of a location names an alternative of pydantic's, and no key."""
    return isinstance(part, str) and (part == "Person" or part.startswith(("tuple[", "function-")))


_KEYS: Final[Mapping[str, type[BaseModel]]] = {
    "tasks": Task, "tools": Tool, "results": Row, "user": Person, "gold": Gold, "calls": MadeCall,
    "reads": Access, "sets": Access,
}  # fmt: skip


def _keys_at(at: Sequence[str | int]) -> list[str]:
    above = next((part for part in reversed(at) if isinstance(part, str)), "")
    return list(_KEYS.get(above, TaskFile).model_fields)


def _check_names(found: TaskFile, document: Document, prefix: int) -> None:
    """Refuse ids and names that stand twice, and tables, columns and tools that are not there."""
    name = document.path.name
    twice = [each for each, count in Counter(task.id for task in found.tasks).items() if count > 1]
    if twice:
        places = [i for i, task in enumerate(found.tasks) if task.id == twice[0]]
        lines = [document.line_of(["tasks", i] if prefix else [i]) for i in places]
        at = " and ".join(map(str, lines[:2]))
        raise DataError(f"{name}, lines {at}: two tasks have the id {twice[0]!r}")
    tools = [tool.name for tool in found.tools]
    if len(set(tools)) < len(tools):
        raise DataError(f"{name}: two tools have the same name ({', '.join(tools)})")
    for number, tool in enumerate(found.tools):
        for access in (tool.reads, tool.sets):
            if access is not None and access.table not in found.tables:
                line = document.line_of(["tools", number])
                hint = nearest(access.table, found.tables) if found.tables else "there are none"
                raise DataError(f"{name}, line {line}: no table {access.table!r}: {hint}")
    for number, task in enumerate(found.tasks):
        named = [each for check in task.expect for each in check.tools()]
        named += [call.name for call in (task.gold.calls if task.gold else ())]
        wrong = next((each for each in named if each not in tools), None)
        if wrong is not None:
            line = document.line_of(["tasks", number] if prefix else [number])
            hint = nearest(wrong, tools) if tools else "the file has no tools"
            raise DataError(
                f"{name}, line {line}: task {task.id!r} names no tool {wrong!r}: {hint}"
            )
