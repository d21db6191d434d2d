"""Configurations of promptfoo: each prompt with the variables of each test becomes a task."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tau_bridge.errors import DataError
from tau_bridge.task_files.documents import Document
from tau_bridge.task_files.imports.drafts import (
    CheckDraft,
    FileDraft,
    TaskDraft,
    distinct,
    domain_name,
)
from tau_bridge.task_files.imports.promptfoo_assertions import NoCounterpartError, check_of
from tau_bridge.task_files.imports.promptfoo_sources import (
    Notes,
    Prompt,
    mapping,
    read_prompts,
    read_tests,
)
from tau_bridge.task_files.imports.promptfoo_templates import (
    LeftOutError,
    fill,
    filled,
    in_javascript,
)

_MAX_CASES: Final = 2_000
_UNREAD: Final = {
    "scenarios": "the scenarios are left out; write them as tests",
    "redteam": "the red team's plugins are left out",
    "providers": "the providers are left out: the agent is named when the tasks are played",
    "targets": "the targets are left out: the agent is named when the tasks are played",
}
_READ: Final = frozenset(["prompts", "tests", "defaultTest", "description", "assertionTemplates"])
_HARMLESS: Final = frozenset(
    [
        "$schema",
        "outputPath",
        "sharing",
        "tags",
        "env",
        "commandLineOptions",
        "writeLatestResults",
        "metadata",
    ]
)
"""Settings that say nothing of what is expected."""
_READ_OF_TESTS: Final = frozenset(
    ["description", "vars", "assert", "options", "threshold", "metadata", "prompts"]
)
_READ_OPTIONS: Final = frozenset(
    ["prefix", "suffix", "disableVarExpansion", "disableDefaultAsserts"]
)

_CODE: Final = ("transform", "postprocess", "transformVars")
"""Options that change what is looked at, or asked."""


def read_promptfoo(document: Document) -> FileDraft:
    """Return prompts x tests of a configuration as tasks.

    Raises:
        DataError: It has no prompts or tests, or no test can be a task.
    """
    config = document.value
    if not isinstance(config, dict):
        raise DataError(f"{document.path.name}: a promptfoo configuration is an object")
    notes = Notes()
    for key in config.keys() - _READ - _HARMLESS:
        if config[key] and not key.startswith("x-"):
            notes.add(_UNREAD.get(key, f"{key!r} is left out"))
    notes.lines.sort()
    default = config.get("defaultTest")
    if isinstance(default, str):
        notes.add(f"defaultTest {default!r} is left out: it is a file")
    prompts = list(read_prompts(config.get("prompts"), document.path, notes))
    tests = list(read_tests(config.get("tests"), document.path, notes))
    if not config.get("tests") and isinstance(default, dict):
        tests = [{}]  # promptfoo plays each prompt once
    for key, found in (("prompts", prompts), ("tests", tests)):
        if not found:
            raise DataError(f"{document.path.name}: {key!r} has none that can be read{_why(notes)}")
    reader = _Reader(
        default=mapping(default),
        templates=mapping(config.get("assertionTemplates")),
        notes=notes,
    )
    tasks = [
        task
        for number, test in enumerate(tests, start=1)
        for task in reader.tasks(test, number, prompts)
    ]
    if not tasks:
        raise DataError(f"{document.path.name}: no test can be a task{_why(notes)}")
    ids = distinct(task.id for task in tasks)
    return FileDraft(
        name=domain_name(document.path.stem),
        description=str(config.get("description") or ""),
        tasks=[replace(task, id=name) for task, name in zip(tasks, ids, strict=True)],
        notes=notes.lines,
    )


def _why(notes: Notes) -> str:
    return f": {'; '.join(notes.lines[:3])}" if notes.lines else ""


@dataclass(frozen=True, kw_only=True)
class _Test:
    """A test with what it takes from the default one."""

    where: str
    given: Mapping[str, Any]
    options: Mapping[str, Any]
    assertions: Sequence[Any]
    metadata: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class _Reader:
    default: Mapping[str, Any]
    templates: Mapping[str, Any]
    notes: Notes

    def tasks(
        self, given: Mapping[str, Any], number: int, prompts: Sequence[Prompt]
    ) -> Iterator[TaskDraft]:
        """Yield a task for each prompt and each combination of listed variables."""
        test = self._test(given, number)
        try:
            chosen = _chosen(given, prompts)
            cases = list(self._cases(test))
        except LeftOutError as error:
            self.notes.add(f"{test.where} is left out: {error}")
            return
        for (at, variables), prompt in itertools.product(enumerate(cases), chosen):
            name = _name(given, number, at if len(cases) > 1 else None)
            where = test.where
            if len(prompts) > 1:
                name += f"-prompt-{prompt.label}"
                where += f" with prompt {prompt.label}"
            try:
                yield self._task(test, name, variables, prompt)
            except LeftOutError as error:
                self.notes.add(f"{where} is left out: {error}")

    def _test(self, given: Mapping[str, Any], number: int) -> _Test:
        where = f"test {number}"
        if given.get("description"):
            where += f" ({given['description']})"
        options = {**mapping(self.default.get("options")), **mapping(given.get("options"))}
        inherited = () if options.get("disableDefaultAsserts") else self.default.get("assert") or ()
        whole = {**self.default, **given}
        lost = [*(whole.keys() - _READ_OF_TESTS), *(options.keys() - {*_READ_OPTIONS, *_CODE})]
        for key in sorted(lost):
            if whole.get(key) or options.get(key):
                self.notes.add(f"{where}: its {key!r} is left out")
        if whole.get("threshold") is not None:
            self.notes.add(f"{where}: its 'threshold' is left out; all checks have to hold")
        return _Test(
            where=where,
            given=given,
            options=options,
            assertions=[*inherited, *(given.get("assert") or ())],
            metadata={**mapping(self.default.get("metadata")), **mapping(given.get("metadata"))},
        )

    def _cases(self, test: _Test) -> Iterator[dict[str, Any]]:
        """Yield every combination of the variables that are lists, as promptfoo does."""
        for key in _CODE:
            if test.options.get(key):
                raise LeftOutError(f"its option {key!r} is code")
        variables = self._variables(test.given)
        lists = {name: value for name, value in variables.items() if isinstance(value, list)}
        if test.options.get("disableVarExpansion"):
            lists = {}
        count = 1
        for each in lists.values():
            count *= len(each)
        if not 0 < count <= _MAX_CASES:
            raise LeftOutError(f"its variables have {count} combinations")
        for chosen in itertools.product(*lists.values()):
            case = {**variables, **dict(zip(lists, chosen, strict=True))}
            for name, value in case.items():
                if isinstance(value, list):
                    self.notes.add(f"{test.where}: its variable {name!r} is written as JSON")
            yield case

    def _variables(self, test: Mapping[str, Any]) -> dict[str, Any]:
        for given in (self.default.get("vars"), test.get("vars")):
            if given is not None and not isinstance(given, dict):
                raise LeftOutError("its variables are in another file")
        found = {**mapping(self.default.get("vars")), **mapping(test.get("vars"))}
        for name, value in found.items():
            if isinstance(value, str) and value.startswith("file://"):
                raise LeftOutError(f"its variable {name!r} is a file ({value})")
        return found

    def _task(
        self, test: _Test, name: str, variables: Mapping[str, Any], prompt: Prompt
    ) -> TaskDraft:
        turns = [filled(each, variables) for each in prompt.turns]
        turns[0] = str(test.options.get("prefix") or "") + turns[0]
        turns[-1] += str(test.options.get("suffix") or "")
        if not turns[0].strip():
            raise LeftOutError("its prompt is empty")
        system = None if prompt.system is None else filled(prompt.system, variables)
        checks = list(self._checks(test, variables))
        if not checks:
            raise LeftOutError("it has no assertion with a counterpart")
        if len(turns) > 1:
            self.notes.add(
                f"{test.where}: its {len(turns)} messages of the user are said one after the "
                "other, and checks look at all answers"
            )
        return TaskDraft(
            id=name,
            title=str(test.given.get("description") or ""),
            system=system,
            prompt=turns[0],
            user=turns[1:],
            expect=checks,
            attributes={str(key): in_javascript(value) for key, value in test.metadata.items()},
        )

    def _checks(self, test: _Test, variables: Mapping[str, Any]) -> Iterator[CheckDraft]:
        kinds = [str(mapping(each).get("type") or each) for each in test.assertions]
        counts = Counter(kinds)
        for number, (kind, given) in enumerate(zip(kinds, test.assertions, strict=True), start=1):
            what = repr(kind) if counts[kind] == 1 else f"{kind!r} (no. {number})"
            try:
                assertion = fill(self._resolved(given), variables)
                mapped = check_of(assertion)
            except (NoCounterpartError, LeftOutError) as error:
                self.notes.add(f"{test.where}: the assertion {what} is left out: {error}")
                continue
            for differs in mapped.differs:
                self.notes.add(f"{test.where}: {what} is not quite the same here: {differs}")
            yield CheckDraft(value=mapped.check)

    def _resolved(self, given: Any) -> dict[str, Any]:
        found = mapping(given)
        name = str(found.get("$ref", "")).rpartition("/")[2]
        if "$ref" in found:
            if not isinstance(self.templates.get(name), dict):
                raise NoCounterpartError(f"there is no template {name!r}")
            return {**self.templates[name], **{k: v for k, v in found.items() if k != "$ref"}}
        if "type" not in found:
            raise NoCounterpartError("it has no type")
        return dict(found)


def _chosen(test: Mapping[str, Any], prompts: Sequence[Prompt]) -> list[Prompt]:
    """Return the prompts that a test is for: by their labels or ids, or how these begin."""
    wanted = test.get("prompts")
    if wanted is None:
        return list(prompts)
    every = [str(each) for each in (wanted if isinstance(wanted, list) else [wanted])]
    found = [each for each in prompts if any(_is_named(each, name) for name in every)]
    if not found:
        raise LeftOutError(f"no prompt is named {' or '.join(map(repr, every)) or 'by it'}")
    return found


def _is_named(prompt: Prompt, name: str) -> bool:
    begins = name[:-1] if name.endswith("*") else f"{name}:"
    return any(each == name or each.startswith(begins) for each in prompt.names)


def _name(test: Mapping[str, Any], number: int, case: int | None) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", str(test.get("description") or "").lower()).strip("-")[:40]
    name = f"{number}-{words}" if words else str(number)
    return name if case is None else f"{name}-{case + 1}"
