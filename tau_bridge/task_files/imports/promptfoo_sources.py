"""Prompts and tests of a promptfoo configuration, from the configuration and files beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tau_bridge.errors import DataError
from tau_bridge.task_files.documents import SUFFIXES, Document, parse_document, read_document

_SEPARATOR: Final = re.compile(r"^[ \t]*---[ \t]*$", re.MULTILINE)
"""Stands between the prompts of one file of text."""
_FILE: Final = "file://"
_TEXT_SUFFIXES: Final = (".txt", ".md", ".j2", ".json", ".yaml", ".yml")
_CODE_SUFFIXES: Final = (".js", ".mjs", ".cjs", ".ts", ".py", ".csv", ".jsonl")
_TYPES: Final = (
    "answer-relevance bleu classifier contains contains-all contains-any contains-html "
    "contains-json contains-sql contains-xml context-faithfulness context-recall "
    "context-relevance conversation-relevance cost equals factuality finish-reason g-eval gleu "
    "guardrails icontains icontains-all icontains-any is-html is-json is-refusal is-sql "
    "is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml "
    "javascript latency levenshtein llm-rubric meteor model-graded-closedqa "
    "model-graded-factuality moderation perplexity perplexity-score pi python regex rouge-n ruby "
    "similar starts-with tool-call-f1 webhook word-count"
)
_EXPECTED: Final = re.compile(
    rf"(?P<type>(?:not-)?(?:{'|'.join(sorted(_TYPES.split(), key=len, reverse=True))}))"
    r"(?:\((?P<threshold>\d+(?:\.\d+)?)\))?(?::(?P<value>[\s\S]*))?"
)
"""An assertion in a cell, such as `similar(0.8): hello`; any other text is what is equal."""
_OLD_TYPES: Final = {"fn:": "javascript:", "eval:": "javascript:", "grade:": "llm-rubric:"}
_COLUMNS: Final = {"__description": "description", "__providerOutput": "providerOutput"}


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The messages of a prompt; a plain text is one of the user.

    `names` are those by which a test chooses it.
    """

    label: str
    system: str | None
    turns: Sequence[str]
    names: frozenset[str] = frozenset()


@dataclass
class Notes:
    """Notes, each once."""

    lines: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Add a note, unless it is there."""
        if text not in self.lines:
            self.lines.append(text)


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a table as it is, and an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}


def read_prompts(given: Any, path: Path, notes: Notes) -> Iterator[Prompt]:
    """Yield the prompts of a configuration."""
    if isinstance(given, dict):  # files, each with its label
        given = [{"raw": f"{_FILE}{name}", "label": label} for name, label in given.items()]
    every = given if isinstance(given, list) else [given] if given else []
    for number, each in enumerate(every, start=1):
        what = f"prompt {number}"
        about = mapping(each)
        raw = each if isinstance(each, str) else about.get("raw") or about.get("id")
        label = str(about.get("label") or number)
        if not isinstance(raw, str):
            notes.add(f"{what} is left out: it is no text")
            continue
        parts = list(_parts(raw, path, notes, what))
        names = {str(about[key]) for key in ("label", "id") if about.get(key)} | {raw}
        for place, part in enumerate(parts, start=1):
            made = _messages(
                part, label if len(parts) == 1 else f"{label}.{place}", names, notes, what
            )
            if made is not None:
                yield made


def _parts(raw: str, path: Path, notes: Notes, what: str) -> Iterator[str]:
    """Yield the texts of a prompt: itself, or those of the files that it names."""
    is_file = raw.startswith(_FILE) or (
        "\n" not in raw and Path(raw).suffix in (*_TEXT_SUFFIXES, *_CODE_SUFFIXES)
    )
    if not is_file:
        yield raw
        return
    for found in _beside(path, raw, notes, what, _TEXT_SUFFIXES):
        text = found.read_text(encoding="utf-8-sig", errors="replace")
        parts = _SEPARATOR.split(text) if found.suffix == ".txt" else [text]
        yield from (part for part in parts if part.strip())


def _beside(
    path: Path, name: str, notes: Notes, what: str, suffixes: Sequence[str]
) -> Iterator[Path]:
    """Yield files in the folder of the configuration, or below; with a note where there is none."""
    folder = path.resolve().parent
    pattern = name.removeprefix(_FILE)
    if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
        notes.add(f"{what} is left out: {name!r} is outside of the folder of the configuration")
        return
    exact = folder / pattern
    found = [exact] if exact.is_file() else sorted(folder.glob(pattern)) if "*" in pattern else []
    if not found:
        is_text = Path(pattern).suffix in suffixes
        why = f"there is no file {name!r}" if is_text else f"{name!r} is code or no text"
        notes.add(f"{what} is left out: {why}")
    for each in found:
        if not each.resolve().is_relative_to(folder):
            why = f"{each.name!r} is outside of the folder of the configuration"
            notes.add(f"{what} is left out: {why}")
        elif each.suffix not in suffixes:
            notes.add(f"{what} is left out: {each.name!r} is code or no text")
        else:
            yield each


def _messages(text: str, label: str, names: set[str], notes: Notes, what: str) -> Prompt | None:
    """Read a prompt that is a list of chat messages; any other is a message of the user."""
    messages: Any = None
    begins = text.lstrip()
    if begins.startswith("- role:") or (begins.startswith("[") and '"role"' in begins):
        try:
            messages = parse_document(Path("prompt.yaml"), text).value
        except DataError:
            messages = "unread"
    if messages is None:
        return Prompt(label=label, system=None, turns=[text.strip("\n")], names=frozenset(names))
    system: list[str] = []
    turns: list[str] = []
    for number, each in enumerate(messages if isinstance(messages, list) else [None], start=1):
        role, content = mapping(each).get("role"), _content(mapping(each).get("content"))
        if role in ("assistant", "tool", "function"):
            notes.add(f"{what}: message {number} ({role}) is left out: the agent speaks for itself")
        elif content is None or role not in ("system", "developer", "user"):
            why = "its chat messages have parts that are no text, or cannot be read"
            notes.add(f"{what} is left out: {why}")
            return None
        else:
            (turns if role == "user" else system).append(content)
    return Prompt(
        label=label,
        system="\n\n".join(system) or None,
        turns=turns or [""],
        names=frozenset(names),
    )


def _content(value: Any) -> str | None:
    """Return the text of a message; None where it has other parts."""
    if isinstance(value, list):
        texts = [text for part in value if isinstance(text := mapping(part).get("text"), str)]
        return "\n".join(texts) if len(texts) == len(value) else None
    return value if isinstance(value, str) else None


# -- tests -----------------------------------------------------------------------------------------


def read_tests(given: Any, path: Path, notes: Notes) -> Iterator[dict[str, Any]]:
    """Yield the tests of a configuration."""
    every = given if isinstance(given, list) else [given] if given else []
    for each in every:
        source = each.get("path") if isinstance(each, dict) else each
        if isinstance(each, dict) and source is None:
            yield each
        elif isinstance(source, str) and (source.startswith(_FILE) or Path(source).suffix):
            for found in _beside(path, source, notes, f"tests {source!r}", SUFFIXES):
                yield from _of_file(read_document(found), notes)
        else:
            notes.add(f"tests {each!r} are left out: no list of tests")


def _of_file(document: Document, notes: Notes) -> Iterator[dict[str, Any]]:
    every = document.value if isinstance(document.value, list) else [document.value]
    for number, each in enumerate(every):
        if not isinstance(each, dict):
            where = f"{document.path.name}, line {document.line_of([number])}"
            notes.add(f"{where} is left out: it is no test")
        elif document.is_table:
            yield _of_row(each, notes)
        else:
            yield each


def _of_row(row: Mapping[str, str], notes: Notes) -> dict[str, Any]:
    """Return a row of a table as a test: columns that begin with `__` say what the others do not."""
    test: dict[str, Any] = {"vars": {}, "assert": [], "options": {}, "metadata": {}}
    for key, value in row.items():
        if not key.startswith("__"):
            test["vars"][key] = value
        elif not value.strip() or key == "__metric":  # a metric names a score, and decides nothing
            continue
        elif re.fullmatch(r"__expected\d*", key):
            test["assert"].append(_assertion(value))
        elif key in ("__prefix", "__suffix"):
            test["options"][key[2:]] = value
        elif key in _COLUMNS:
            test[_COLUMNS[key]] = value
        elif key == "__threshold":
            test["threshold"] = value
        elif key.startswith("__metadata:"):
            test["metadata"][key.partition(":")[2].removesuffix("[]")] = value
        else:
            notes.add(f"the column {key!r} is left out")
    return test


def _assertion(cell: str) -> dict[str, Any]:
    text = cell.strip()
    for old, new in _OLD_TYPES.items():
        if text.startswith(old):
            text = new + text.removeprefix(old)
    found = _EXPECTED.fullmatch(text)
    if found is None:
        return {"type": "equals", "value": cell}
    assertion: dict[str, Any] = {"type": found["type"]}
    value = (found["value"] or "").strip()
    if value:
        is_schema = found["type"].endswith("-json")
        assertion["value"] = _schema(value) if is_schema else value
    if found["threshold"]:
        assertion["threshold"] = float(found["threshold"])
    return assertion


def _schema(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
