"""Configurations of promptfoo: each prompt with the variables of each test becomes a task."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tau_bridge.errors import DataError
from tau_bridge.task_files.documents import SUFFIXES, Document, parse_document, read_document
from tau_bridge.task_files.imports.drafts import (
    CheckDraft,
    FileDraft,
    TaskDraft,
    distinct,
    domain_name,
)
from tau_bridge.task_files.imports.promptfoo_assertions import NoCounterpartError, check_of

_VARIABLE: Final = re.compile(r"\{\{-?\s*([A-Za-z_][\w.\[\]]*)\s*-?\}\}")
_TEMPLATE: Final = re.compile(r"\{\{|\{%")
_SEPARATOR: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
"""Stands between the prompts of one file."""
_FILE: Final = "file://"
_TEXT_SUFFIXES: Final = (".txt", ".md", ".json", ".yaml", ".yml")
_MAX_PASSES: Final = 5
"""Variables may name others."""
_MAX_CASES: Final = 2_000
_UNREAD: Final = {
    "scenarios": "the scenarios are left out; write them as tests",
    "redteam": "the red team's plugins are left out",
}


class _LeftOutError(Exception):
    """A test cannot be a task; the message says why."""


@dataclass(frozen=True, kw_only=True)
class _Prompt:
    """The messages of a prompt; a plain text is one of the user."""

    label: str
    system: str | None
    turns: Sequence[str]


@dataclass
class _Notes:
    lines: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        if text not in self.lines:
            self.lines.append(text)


def read_promptfoo(document: Document) -> FileDraft:
    """Return prompts x tests of a configuration as tasks.

    Raises:
        DataError: It has no prompts or tests, or no test can be a task.
    """
    config = document.value
    if not isinstance(config, dict):
        raise DataError(f"{document.path.name}: a promptfoo configuration is an object")
    notes = _Notes([text for key, text in _UNREAD.items() if config.get(key)])
    prompts = list(_prompts(config.get("prompts"), document.path, notes))
    if not prompts:
        raise DataError(f"{document.path.name}: 'prompts' has none that can be read")
    tests = list(_tests(config.get("tests"), document.path, notes))
    if not tests:
        raise DataError(f"{document.path.name}: 'tests' has none that can be read")
    default = config.get("defaultTest")
    if isinstance(default, str):
        notes.add(f"defaultTest {default!r} is left out: it is a file")
    reader = _Reader(
        default=default if isinstance(default, dict) else {},
        templates=_mapping(config.get("assertionTemplates")),
        notes=notes,
    )
    tasks = [
        task
        for number, test in enumerate(tests, start=1)
        for task in reader.tasks(test, number, prompts)
    ]
    if not tasks:
        why = f": {notes.lines[0]}" if notes.lines else ""
        raise DataError(f"{document.path.name}: no test can be a task{why}")
    ids = distinct(task.id for task in tasks)
    return FileDraft(
        name=domain_name(document.path.stem),
        description=str(config.get("description") or ""),
        tasks=[TaskDraft(**{**vars(t), "id": name}) for t, name in zip(tasks, ids, strict=True)],
        notes=notes.lines,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


# -- prompts and tests -----------------------------------------------------------------------------


def _prompts(given: Any, path: Path, notes: _Notes) -> Iterator[_Prompt]:
    every = given if isinstance(given, list) else [given] if given else []
    for number, each in enumerate(every, start=1):
        label = str(number)
        raw = each
        if isinstance(each, dict):
            label = str(each.get("label") or number)
            raw = each.get("raw") or each.get("id")
        if not isinstance(raw, str):
            notes.add(f"prompt {number} is left out: it is no text")
            continue
        is_file = raw.startswith(_FILE) or (
            "\n" not in raw and Path(raw).suffix in (*_TEXT_SUFFIXES, ".js", ".py", ".csv")
        )
        text = _beside(path, raw, notes, f"prompt {number}", _TEXT_SUFFIXES) if is_file else raw
        parts = _SEPARATOR.split(text) if is_file and text is not None else [text]
        filled = [part for part in parts if part is not None and part.strip()]
        for place, part in enumerate(filled, start=1):
            yield _messages(part, label if len(filled) == 1 else f"{label}.{place}")


def _beside(path: Path, name: str, notes: _Notes, what: str, suffixes: Sequence[str]) -> str | None:
    """Return the text of a file in the folder of the configuration, or below; None with a note."""
    folder = path.resolve().parent
    found = (folder / name.removeprefix(_FILE)).resolve()
    if found.suffix not in suffixes:
        notes.add(f"{what} is left out: {name!r} is code or no text")
    elif not found.is_relative_to(folder):
        notes.add(f"{what} is left out: {name!r} is outside of the folder of the configuration")
    elif not found.is_file():
        notes.add(f"{what} is left out: there is no file {name!r}")
    else:
        return found.read_text(encoding="utf-8-sig", errors="replace")
    return None


def _messages(text: str, label: str) -> _Prompt:
    """Read a prompt that is a list of chat messages; any other is a message of the user."""
    messages: Any = None
    if text.lstrip().startswith(("[", "- role:")):
        try:
            messages = parse_document(Path("prompt.yaml"), text).value
        except DataError:
            messages = None
    is_chat = isinstance(messages, list) and all(
        isinstance(each, dict) and isinstance(each.get("content"), str) for each in messages
    )
    if not messages or not is_chat:
        return _Prompt(label=label, system=None, turns=[text.strip("\n")])
    system = [m["content"] for m in messages if m.get("role") in ("system", "developer")]
    turns = [m["content"] for m in messages if m.get("role") == "user"]
    return _Prompt(label=label, system="\n\n".join(system) or None, turns=turns or [""])


def _tests(given: Any, path: Path, notes: _Notes) -> Iterator[dict[str, Any]]:
    every = given if isinstance(given, list) else [given] if given else []
    for each in every:
        if isinstance(each, dict):
            yield each
        elif isinstance(each, str) and Path(each).suffix in SUFFIXES:
            suffixes = tuple(suffix for suffix in SUFFIXES if suffix != ".csv")
            if _beside(path, each, notes, f"tests {each!r}", suffixes) is not None:
                inner = read_document(path.resolve().parent / each.removeprefix(_FILE)).value
                yield from _tests(inner, path, notes)
        else:
            notes.add(f"tests {each!r} are left out: no list of tests in YAML or JSON")


# -- one test --------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Reader:
    default: Mapping[str, Any]
    templates: Mapping[str, Any]
    notes: _Notes

    def tasks(
        self, test: Mapping[str, Any], number: int, prompts: Sequence[_Prompt]
    ) -> Iterator[TaskDraft]:
        """Yield a task for each prompt and each combination of listed variables."""
        where = f"test {number}"
        if test.get("description"):
            where += f" ({test['description']})"
        try:
            self._refuse(test)
            cases = list(_cases(self._variables(test)))
        except _LeftOutError as error:
            self.notes.add(f"{where} is left out: {error}")
            return
        for (at, variables), prompt in itertools.product(enumerate(cases), prompts):
            try:
                name = _name(test, number, at if len(cases) > 1 else None)
                if len(prompts) > 1:
                    name += f"-prompt-{prompt.label}"
                yield self._task(test, name, variables, prompt, where)
            except _LeftOutError as error:
                self.notes.add(f"{where} is left out: {error}")

    def _refuse(self, test: Mapping[str, Any]) -> None:
        options = {**_mapping(self.default.get("options")), **_mapping(test.get("options"))}
        for key in ("transform", "postprocess", "transformVars"):
            if options.get(key):
                raise _LeftOutError(f"its option {key!r} is code")

    def _variables(self, test: Mapping[str, Any]) -> dict[str, Any]:
        for given in (self.default.get("vars"), test.get("vars")):
            if given is not None and not isinstance(given, dict):
                raise _LeftOutError("its variables are in another file")
        found = {**_mapping(self.default.get("vars")), **_mapping(test.get("vars"))}
        for name, value in found.items():
            if isinstance(value, str) and value.startswith(_FILE):
                raise _LeftOutError(f"its variable {name!r} is a file ({value})")
        return found

    def _task(
        self,
        test: Mapping[str, Any],
        name: str,
        variables: Mapping[str, Any],
        prompt: _Prompt,
        where: str,
    ) -> TaskDraft:
        options = {**_mapping(self.default.get("options")), **_mapping(test.get("options"))}
        turns = [_filled(each, variables) for each in prompt.turns]
        turns[0] = str(options.get("prefix") or "") + turns[0]
        turns[-1] += str(options.get("suffix") or "")
        if not turns[0].strip():
            raise _LeftOutError("its prompt is empty")
        if len(turns) > 1:
            self.notes.add(
                f"{where}: its {len(turns)} messages of the user are said one after the other, and "
                "checks look at all answers"
            )
        checks = list(self._checks(test, variables, where))
        if not checks:
            raise _LeftOutError("it has no assertion with a counterpart")
        if {**self.default, **test}.get("threshold") is not None:
            self.notes.add(f"{where}: its 'threshold' is left out; all checks have to hold")
        return TaskDraft(
            id=name,
            title=str(test.get("description") or ""),
            system=None if prompt.system is None else _filled(prompt.system, variables),
            prompt=turns[0],
            user=turns[1:],
            expect=checks,
            attributes={
                str(key): value if isinstance(value, str) else json.dumps(value)
                for key, value in _mapping(test.get("metadata")).items()
            },
        )

    def _checks(
        self, test: Mapping[str, Any], variables: Mapping[str, Any], where: str
    ) -> Iterator[CheckDraft]:
        inherited = () if _is_off(test) else self.default.get("assert") or ()
        for given in [*inherited, *(test.get("assert") or ())]:
            kind = str(_mapping(given).get("type") or given)
            try:
                assertion = _fill(self._resolved(given), variables)
                mapped = check_of(assertion)
            except (NoCounterpartError, _LeftOutError) as error:
                self.notes.add(f"{where}: the assertion {kind!r} is left out: {error}")
                continue
            if mapped.differs is not None:
                self.notes.add(f"{where}: {kind!r} is not quite the same here: {mapped.differs}")
            yield CheckDraft(value=mapped.check)

    def _resolved(self, given: Any) -> dict[str, Any]:
        found = _mapping(given)
        name = str(found.get("$ref", "")).rpartition("/")[2]
        if "$ref" in found:
            if not isinstance(self.templates.get(name), dict):
                raise NoCounterpartError(f"there is no template {name!r}")
            return {**self.templates[name], **{k: v for k, v in found.items() if k != "$ref"}}
        if "type" not in found:
            raise NoCounterpartError("it has no type")
        return dict(found)


def _is_off(test: Mapping[str, Any]) -> bool:
    return bool(_mapping(test.get("options")).get("disableDefaultAsserts"))


def _name(test: Mapping[str, Any], number: int, case: int | None) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", str(test.get("description") or "").lower()).strip("-")[:40]
    name = f"{number}-{words}" if words else str(number)
    return name if case is None else f"{name}-{case + 1}"


def _cases(variables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every combination of the variables that are lists, as promptfoo does."""
    lists = {name: value for name, value in variables.items() if isinstance(value, list)}
    count = 1
    for each in lists.values():
        count *= len(each)
    if count > _MAX_CASES:
        raise _LeftOutError(f"its variables have {count} combinations")
    for chosen in itertools.product(*lists.values()):
        yield {**variables, **dict(zip(lists, chosen, strict=True))}


# -- templates -------------------------------------------------------------------------------------


def _fill(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return _filled(value, variables)
    if isinstance(value, dict):
        return {key: _fill(each, variables) for key, each in value.items()}
    return [_fill(each, variables) for each in value] if isinstance(value, list) else value


def _filled(text: str, variables: Mapping[str, Any]) -> str:
    """Fill in variables; filters and statements of the template language are not run."""
    for _ in range(_MAX_PASSES):
        if _VARIABLE.search(text) is None:
            break
        text = _VARIABLE.sub(lambda found: _looked_up(found[1], variables), text)
    if _TEMPLATE.search(text):
        raise _LeftOutError("it has a template with more than variables")
    return text


def _looked_up(name: str, variables: Mapping[str, Any]) -> str:
    value: Any = variables
    for part in re.findall(r"\w+", name):
        inside = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            inside = value[int(part)]
        if inside is None:
            raise _LeftOutError(f"there is no variable {name!r}")
        value = inside
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
