"""Assertions of promptfoo as checks: those that have a counterpart, and why others have none."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

_ANY_TEXT: Final = r"[\s\S]*"
_SPECIAL: Final = re.compile(r"([\\.^$*+?{}\[\]|()])")
_NAMED_GROUP: Final = re.compile(r"\(\?<(?=[A-Za-z_])")
_FENCED: Final = "a code block that holds the JSON passes as well"
_WHOLE: Final = "JSON amid other text does not pass, only JSON alone or in a code block"
_ASKED: Final = "a judge decides, where promptfoo compares embeddings"


class NoCounterpartError(Exception):
    """An assertion has no counterpart; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """A check, and how it differs from the assertion, where it does."""

    check: dict[str, Any]
    differs: str | None = None


def check_of(assertion: Mapping[str, Any]) -> Mapped:
    """Return the check for an assertion whose variables are filled in.

    Raises:
        NoCounterpartError: There is none.
    """
    name = str(assertion.get("type"))
    if assertion.get("weight") == 0:
        raise NoCounterpartError("its weight is 0, so that it decides nothing")
    for key in ("transform", "contextTransform"):
        if key in assertion:
            raise NoCounterpartError(f"its {key!r} changes the answer before it is looked at")
    value = assertion.get("value")
    if isinstance(value, str) and value.startswith("file://"):
        raise NoCounterpartError(f"its value is a file ({value})")
    if name == "assert-set":
        return _set(assertion)
    if name == "latency":
        return Mapped(check={"latency_ms": _positive(assertion.get("threshold"))})
    known = _NEGATED if name.startswith("not-") else _KINDS
    kind = name.removeprefix("not-")
    if kind not in known:
        raise NoCounterpartError(_WHY.get(kind, "there is no such check here"))
    return known[kind](value)


def _set(assertion: Mapping[str, Any]) -> Mapped:
    inner = [check_of(each) for each in assertion.get("assert") or ()]
    if not inner:
        raise NoCounterpartError("it is empty")
    checks = [each.check for each in inner]
    differs = "; ".join(dict.fromkeys(each.differs for each in inner if each.differs)) or None
    threshold = assertion.get("threshold")
    if threshold is None or threshold == 1:
        return Mapped(check={"all": checks}, differs=differs)
    if isinstance(threshold, int | float) and 0 < threshold * len(checks) <= 1:
        return Mapped(check={"any": checks}, differs=differs)
    raise NoCounterpartError(f"a share of {threshold} of its assertions cannot be asked for")


def _positive(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise NoCounterpartError("it has no threshold above 0")
    return value


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        raise NoCounterpartError("its value is no text")
    return str(value)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        value = [each.strip() for each in value.split(",")]
    if not isinstance(value, list) or not value:
        raise NoCounterpartError("its value is no list of texts")
    return [_text(each) for each in value]


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _matches(pattern: str) -> Mapped:
    return Mapped(check={"matches": pattern})


def _never(pattern: str) -> Mapped:
    """Return a check that nothing in the answer fits a pattern."""
    return _matches(rf"\A(?!{_ANY_TEXT}(?:{pattern}))")


def _regex(value: Any) -> str:
    """Return a regular expression of JavaScript in Python's form."""
    pattern = _NAMED_GROUP.sub("(?P<", _text(value))
    try:
        re.compile(pattern)
    except re.error as error:
        raise NoCounterpartError(f"its expression is none of Python's: {error}") from error
    return pattern


def _contains_any(value: Any) -> Mapped:
    return Mapped(check={"any": [{"matches": _literal(each)} for each in _texts(value)]})


def _contains_all(value: Any) -> Mapped:
    return Mapped(check={"all": [{"matches": _literal(each)} for each in _texts(value)]})


def _one_of(value: Any) -> str:
    return "|".join(_literal(each) for each in _texts(value))


def _regardless_of_case(text: str) -> dict[str, Any]:
    """Return a check for a text; `contains` takes no number for a part of a longer one."""
    if text[0].isdigit() or text[-1].isdigit():
        return {"matches": f"(?i){_literal(text)}"}
    return {"contains": text}


def _icontains_any(value: Any) -> Mapped:
    return Mapped(check={"any": [_regardless_of_case(each) for each in _texts(value)]})


def _icontains_all(value: Any) -> Mapped:
    return Mapped(check={"all": [_regardless_of_case(each) for each in _texts(value)]})


def _icontains_none(value: Any) -> Mapped:
    texts = _texts(value)
    if any(each[0].isdigit() or each[-1].isdigit() for each in texts):
        return _never(f"(?i:{_one_of(texts)})")
    return Mapped(check={"not_contains": texts})


def _schema(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NoCounterpartError("its value is no JSON Schema")
    return value


def _equals(value: Any) -> Mapped:
    if isinstance(value, dict | list):
        return Mapped(check={"json": {"const": value}}, differs=_FENCED)
    return _matches(rf"\A{_literal(_text(value))}\Z")


def _judge(form: str, differs: str | None = None) -> Callable[[Any], Mapped]:
    def map_(value: Any) -> Mapped:
        return Mapped(check={"judge": form.format(_text(value))}, differs=differs)

    return map_


_KINDS: Final[Mapping[str, Callable[[Any], Mapped]]] = {
    "equals": _equals,
    "contains": lambda value: _matches(_literal(_text(value))),
    "icontains": lambda value: Mapped(check=_regardless_of_case(_text(value))),
    "contains-any": _contains_any,
    "contains-all": _contains_all,
    "icontains-any": _icontains_any,
    "icontains-all": _icontains_all,
    "starts-with": lambda value: _matches(rf"\A{_literal(_text(value))}"),
    "regex": lambda value: _matches(_regex(value)),
    "is-json": lambda value: Mapped(check={"json": _schema(value)}, differs=_FENCED),
    "contains-json": lambda value: Mapped(check={"json": _schema(value)}, differs=_WHOLE),
    "similar": _judge("The last answer means the same as: {}", _ASKED),
    "llm-rubric": _judge("{}"),
    "model-graded-closedqa": _judge("The last answer meets this: {}"),
    "factuality": _judge("The last answer agrees with these facts: {}"),
}
_NEGATED: Final[Mapping[str, Callable[[Any], Mapped]]] = {
    "equals": lambda value: _never(rf"\A{_literal(_text(value))}\Z"),
    "contains": lambda value: _never(_literal(_text(value))),
    "icontains": lambda value: _icontains_none([_text(value)]),
    "contains-any": lambda value: _never(_one_of(value)),
    "icontains-any": _icontains_none,
    "starts-with": lambda value: _never(rf"\A{_literal(_text(value))}"),
    "regex": lambda value: _never(_regex(value)),
    "llm-rubric": _judge("It is not so that: {}"),
}

_WHY: Final[Mapping[str, str]] = {
    "javascript": "code in JavaScript is not run; write it in Python and name it with 'python:'",
    "python": "put the function into a module beside the file and name it with 'python:'",
    "ruby": "code in Ruby is not run",
    "webhook": "no web address is asked",
    "cost": "what an agent costs is not known here",
    "levenshtein": "'similar' measures a share, not a number of edits",
}
