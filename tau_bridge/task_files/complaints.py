"""Complaints about a file, in words for the person who wrote it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic import ValidationError

from tau_bridge.errors import nearest
from tau_bridge.task_files.documents import Document

_BRANCHES: Final = ("person", "turns")
"""Parts of a location that name an alternative of the model, and no key."""
_DUE: Final = {
    "string": "a text", "tuple": "a list", "dict": "a mapping ('key: value')",
    "model": "a mapping ('key: value')", "int": "a whole number", "float": "a number",
    "decimal": "a number", "finite": "a finite number", "bool": "true or false",
}  # fmt: skip
"""Words for what is due, by the first word of pydantic's type of error."""
_FORMS: Final = {
    "python": "'module:function', of a module beside the file",
    "tools": "a letter, then letters, digits and '_.-'",
    "name": "a small letter, then up to 40 small letters, digits, '_' and '-'",
}


def worded(
    error: ValidationError, document: Document, prefix: int, known: Callable[[str], Sequence[str]]
) -> str:
    """Return the first of some errors in words, with its line and key.

    Args:
        error: What the model says.
        document: The file.
        prefix: How many keys stand in front of its tasks.
        known: Returns the keys that are known below a key.
    """
    errors = error.errors(include_url=False)
    # An unknown key is most often a known one, misspelled, which is then missing.
    beside = [each for each in errors if each["loc"][:-1] == errors[0]["loc"][:-1]]
    first = next((each for each in beside if each["type"] == "extra_forbidden"), errors[0])
    at = [part for part in first["loc"] if part not in _BRANCHES]
    line = document.line_of(at if prefix else at[1:])
    where = ".".join(map(str, at)) or "the file"
    others = [each["loc"] for each in errors if each is not first]
    more = sum(loc != first["loc"][: len(loc)] for loc in others)  # the rest follows from it
    rest = f" (and {more} more)" if more else ""
    return f"{document.path.name}, line {line}: {where}: {_problem(first, at, known)}{rest}"


def _problem(error: Any, at: Sequence[str | int], known: Callable[[str], Sequence[str]]) -> str:
    kind, given = error["type"], error["input"]
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind == "missing":
        return f"the key {at[-1]!r} is missing"
    if kind == "extra_forbidden":
        above = next((part for part in reversed(at[:-1]) if isinstance(part, str)), "")
        return f"unknown key {at[-1]!r}: {nearest(str(at[-1]), known(above))}"
    if kind in ("too_short", "string_too_short"):
        return "this is empty"
    if kind == "string_pattern_mismatch":
        form = next((text for key, text in _FORMS.items() if key in at), error["msg"])
        return f"{given!r} is not of the form: {form}"
    due = _DUE.get(kind.split("_")[0])
    if due is None:
        return str(error["msg"]).replace("Input should be", f"{_found(given)} should be")
    return f"{due} is due here, not {_found(given)}{_hint(due, given)}"


def _found(given: Any) -> str:
    if given is None:
        return "nothing"
    if isinstance(given, dict):
        return "a mapping"
    if isinstance(given, list | tuple):
        return "a list"
    return f"the text {given[:60]!r}" if isinstance(given, str) else str(given).lower()


def _hint(due: str, given: Any) -> str:
    if due == "a text" and isinstance(given, bool | int | float):
        return f': quote it, "{str(given).lower()}"'
    if due == "a text" and given is None:
        return " (what begins with '#' is a comment unless it is quoted)"
    if due == "a list" and given is not None:
        return ": begin each entry with '- '"
    return ""
