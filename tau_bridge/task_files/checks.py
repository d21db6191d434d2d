"""Checks: what is expected of a conversation, and whether it holds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import jsonschema
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from rapidfuzz import fuzz

from evals.outcome import Check
from tau_bridge.errors import nearest
from tau_bridge.messages import ToolCall
from tau_bridge.phrases import normalize

MOST_READ: Final = 100_000
"""Characters of the agent's words that are read."""
_NUMBERS = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)

Verdict = tuple[bool | None, str | None]
"""The truth of a check (None: it cannot be told), and the reason if it does not hold."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts of a conversation.

    Args:
        answers: What the agent said to the user, turn by turn.
        calls: Its calls, in order.
        latencies_ms: The time of each of its turns.
        tables: The tables at the end.
        verdicts: What a judge said of statements; None without a judge.
        ran: What code said, by its name; None where it was not run.
    """

    answers: Sequence[str] = ()
    calls: Sequence[ToolCall] = ()
    latencies_ms: Sequence[float] = ()
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    verdicts: Mapping[str, bool] | None = None
    ran: Mapping[str, Verdict] | None = None

    @property
    def said(self) -> str:
        """Return all that the agent said."""
        return "\n".join(self.answers)[:MOST_READ]

    @property
    def last(self) -> str:
        """Return its last words."""
        return (self.answers[-1] if self.answers else "")[:MOST_READ]


def as_text(value: object) -> object:
    """Return a number as a text: in YAML, `contains: 40.5` is one."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value


def as_list(value: object) -> object:
    """Return one text or number as a list of it."""
    return value if isinstance(value, list | tuple) else [value]


Text = Annotated[str, BeforeValidator(as_text)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(as_list), Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Number(_Part):
    value: float
    tolerance: Annotated[float, Field(ge=0)] = 0.0


class _Similar(_Part):
    text: Text
    at_least: Annotated[float, Field(gt=0, le=1)] = 0.8


class CallPattern(_Part):
    """Calls of a tool that have at least these arguments, or exactly these."""

    name: str
    arguments: dict[str, Any] = {}
    exact: bool = False

    @model_validator(mode="before")
    @classmethod
    def _by_name(cls, given: Any) -> Any:
        return {"name": given} if isinstance(given, str) else given

    def fits(self, call: ToolCall) -> bool:
        """Tell whether a call is one of these."""
        if call.name != self.name or (self.exact and call.arguments.keys() - self.arguments):
            return False
        return all(
            name in call.arguments and same(call.arguments[name], value)
            for name, value in self.arguments.items()
        )

    def __str__(self) -> str:
        given = ", ".join(f"{name}={json.dumps(value)}" for name, value in self.arguments.items())
        alone = f"exactly {given}" if given else "no arguments"
        given = alone if self.exact else given
        return f"{self.name}({given})" if given else self.name


def same(left: Any, right: Any) -> bool:
    """Compare two JSON values; true is not 1."""
    return bool(left == right) and isinstance(left, bool) == isinstance(right, bool)


def _schema(value: dict[str, Any]) -> dict[str, Any]:
    try:
        jsonschema.Draft202012Validator.check_schema(value)
    except jsonschema.SchemaError as error:
        raise ValueError(f"no JSON Schema: {error.message}") from error
    return value


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"no regular expression: {error}") from error
    return value


Patterns = Annotated[tuple[CallPattern, ...], BeforeValidator(as_list), Field(min_length=1)]


class Expectation(BaseModel):
    """One check: its kind, what it looks for, and its weight."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    value: Any
    weight: Annotated[float, Field(gt=0)] = 1.0

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            raise ValueError("a check is written 'kind: value', for example 'contains: refund'")  # noqa: TRY004
        kinds = [key for key in given if key != "weight"]
        if len(kinds) != 1:
            raise ValueError(f"a check has one kind beside its weight, not {len(kinds)}")
        kind = kinds[0]
        if kind not in KINDS:
            raise ValueError(f"unknown check {kind!r}: {nearest(kind, KINDS)}")
        try:
            value = KINDS[kind].type.validate_python(given[kind])
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = "".join(f".{part}" for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise ValueError(f"{kind}{where}: {message}") from error
        return {"kind": kind, "value": value, **{k: given[k] for k in given if k == "weight"}}

    def each(self) -> Iterator[Expectation]:
        """Yield this check, and those inside of it."""
        yield self
        if self.kind in ("any", "all"):
            for inner in self.value:
                yield from inner.each()

    def tools(self) -> Iterator[str]:
        """Yield the tools that a check wants to be called."""
        for each in self.each():
            if each.kind in ("calls", "calls_in_order"):
                yield from (pattern.name for pattern in each.value)

    def decide(self, facts: Facts) -> Check:
        """Tell whether it holds."""
        kind = KINDS[self.kind]
        met, reason = kind.decide(self.value, facts)
        return Check(description=kind.words(self.value), met=met, reason=None if met else reason)


def as_checks(value: object) -> object:
    """Return one check as a list of it."""
    return [value] if isinstance(value, dict) else value


_Checks = Annotated[tuple[Expectation, ...], BeforeValidator(as_checks), Field(min_length=1)]


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def _list(texts: Sequence[object]) -> str:
    return " and ".join(_quoted(each) if isinstance(each, str) else str(each) for each in texts)


def _equals(value: str, facts: Facts) -> Verdict:
    return normalize(facts.last) == normalize(value), f"it is {_quoted(facts.last)}"


def _stands_in(said: str, text: str) -> bool:
    """Tell whether a text is part of another; a number is no part of a longer number."""
    wanted = normalize(text)
    before = r"(?<!\d)(?<!\d[.,])" if wanted[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if wanted[-1:].isdigit() else ""
    return re.search(f"{before}{re.escape(wanted)}{after}", said) is not None


def _contains(value: Sequence[str], facts: Facts) -> Verdict:
    said = normalize(facts.said)
    missing = [each for each in value if not _stands_in(said, each)]
    return not missing, f"{_list(missing)} was not said"


def _not_contains(value: Sequence[str], facts: Facts) -> Verdict:
    said = normalize(facts.said)
    there = [each for each in value if _stands_in(said, each)]
    return not there, f"{_list(there)} was said"


def _matches(value: str, facts: Facts) -> Verdict:
    return re.search(value, facts.said) is not None, "nothing that was said fits"


def _number(value: _Number, facts: Facts) -> Verdict:
    found = [float(each.replace(",", "")) for each in _NUMBERS.findall(facts.last)]
    near = any(
        math.isclose(each, value.value, rel_tol=1e-9, abs_tol=max(value.tolerance, 1e-9))
        for each in found
    )
    return near, f"its last answer has {', '.join(f'{each:g}' for each in found[:5]) or 'none'}"


def _one_of(value: Sequence[str], facts: Facts) -> Verdict:
    last = normalize(facts.last).rstrip(".!")
    return last in {normalize(each).rstrip(".!") for each in value}, f"it is {_quoted(facts.last)}"


def _json(value: Mapping[str, Any], facts: Facts) -> Verdict:
    fenced = _FENCE.search(facts.last)
    try:
        found = json.loads(fenced[1] if fenced else facts.last)
    except (ValueError, RecursionError):
        return False, "its last answer is no JSON"
    error = jsonschema.exceptions.best_match(
        jsonschema.Draft202012Validator(value).iter_errors(found)
    )
    return error is None, None if error is None else error.message[:200]


def _similar(value: _Similar, facts: Facts) -> Verdict:
    near = fuzz.ratio(normalize(facts.last), normalize(value.text)) / 100
    return near >= value.at_least, f"the similarity is {near:.2f}"


def _calls(value: Sequence[CallPattern], facts: Facts) -> Verdict:
    missing = [each for each in value if not any(each.fits(call) for call in facts.calls)]
    return not missing, f"no call of {_list(missing)}; {_made(facts)}"


def _not_calls(value: Sequence[CallPattern], facts: Facts) -> Verdict:
    made = [each for each in value if any(each.fits(call) for call in facts.calls)]
    return not made, f"{_list(made)} was called"


def _calls_in_order(value: Sequence[CallPattern], facts: Facts) -> Verdict:
    left = iter(facts.calls)
    for each in value:
        if not any(each.fits(call) for call in left):
            return False, f"no call of {each} in its turn; {_made(facts)}"
    return True, None


def _made(facts: Facts) -> str:
    names = [call.name for call in facts.calls]
    return f"called were {', '.join(names[:10])}" if names else "nothing was called"


def _max_calls(value: int, facts: Facts) -> Verdict:
    return len(facts.calls) <= value, f"there were {len(facts.calls)}"


def _latency(value: float, facts: Facts) -> Verdict:
    slowest = max(facts.latencies_ms, default=0.0)
    return slowest <= value, f"the slowest took {slowest:.0f} ms"


def _state(value: Mapping[str, Any], facts: Facts) -> Verdict:
    for table, rows in value.items():
        for key, columns in rows.items():
            row = facts.tables.get(table, {}).get(key)
            if row is None:
                return False, f"{table} has no row {key!r}"
            for column, right in columns.items():
                if not same(row.get(column), right):
                    return False, f"{column} of {table} {key!r} is {row.get(column)!r}"
    return True, None


def _judged(value: str, facts: Facts) -> Verdict:
    if facts.verdicts is None or value not in facts.verdicts:
        return None, "no language model judged it"
    return facts.verdicts[value], "the judge says that it does not hold"


def _python(value: str, facts: Facts) -> Verdict:
    if facts.ran is None or value not in facts.ran:
        return None, "its code was not run: allow it with --allow-code"
    return facts.ran[value]


def _any(value: Sequence[Expectation], facts: Facts) -> Verdict:
    checks = [each.decide(facts) for each in value]
    open_ = next((check for check in checks if check.met is None), None)
    if open_ is not None:
        return None, open_.reason
    return any(check.met for check in checks), checks[0].reason


def _all(value: Sequence[Expectation], facts: Facts) -> Verdict:
    checks = [each.decide(facts) for each in value]
    open_ = next((check for check in checks if check.met is None), None)
    unmet = next((check for check in checks if not check.met), None)
    if open_ is not None:
        return None, open_.reason
    return unmet is None, None if unmet is None else unmet.reason


@dataclass(frozen=True)
class _Kind:
    """A kind of check: the form of its value, its words, and how it is decided."""

    type: TypeAdapter[Any]
    words: Callable[[Any], str]
    decide: Callable[[Any, Facts], Verdict]


def _kind(form: Any, words: Callable[[Any], str], decide: Callable[[Any, Facts], Verdict]) -> _Kind:
    return _Kind(TypeAdapter(form), words, decide)


def _number_or(value: object) -> object:
    return value if isinstance(value, dict) else {"value": value}


def _similar_or(value: object) -> object:
    return value if isinstance(value, dict) else {"text": value}


KINDS: Final[Mapping[str, _Kind]] = {
    "equals": _kind(Text, lambda v: f"answers {_quoted(v)}", _equals),
    "contains": _kind(Texts, lambda v: f"says {_list(v)}", _contains),
    "not_contains": _kind(Texts, lambda v: f"does not say {_list(v)}", _not_contains),
    "matches": _kind(
        Annotated[Text, Field(min_length=1), BeforeValidator(_pattern)],
        lambda v: f"says what fits {_quoted(v)}",
        _matches,
    ),
    "number": _kind(
        Annotated[_Number, BeforeValidator(_number_or)],
        lambda v: f"answers the number {v.value:g}"
        + (f", give or take {v.tolerance:g}" if v.tolerance else ""),
        _number,
    ),
    "one_of": _kind(Texts, lambda v: f"answers {' or '.join(map(_quoted, v))}", _one_of),
    "json": _kind(
        Annotated[dict[str, Any], BeforeValidator(_schema)],
        lambda _: "answers JSON of the schema",
        _json,
    ),
    "similar": _kind(
        Annotated[_Similar, BeforeValidator(_similar_or)],
        lambda v: f"answers much like {_quoted(v.text)}, at least {v.at_least:g}",
        _similar,
    ),
    "calls": _kind(Patterns, lambda v: f"calls {_list(v)}", _calls),
    "not_calls": _kind(Patterns, lambda v: f"does not call {_list(v)}", _not_calls),
    "calls_in_order": _kind(
        Patterns, lambda v: f"calls {', then '.join(map(str, v))}", _calls_in_order
    ),
    "max_calls": _kind(
        Annotated[int, Field(ge=0)], lambda v: f"makes at most {v} calls", _max_calls
    ),
    "latency_ms": _kind(
        Annotated[float, Field(gt=0)], lambda v: f"answers within {v:g} ms each time", _latency
    ),
    "state": _kind(
        dict[str, dict[str, dict[str, Any]]],
        lambda v: f"leaves {json.dumps(v)[:200]}",
        _state,
    ),
    "judge": _kind(Text, lambda v: f"{v}", _judged),
    "python": _kind(
        Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")],
        lambda v: f"passes {v}",
        _python,
    ),
    "any": _kind(_Checks, lambda v: " or ".join(KINDS[e.kind].words(e.value) for e in v), _any),
    "all": _kind(_Checks, lambda v: " and ".join(KINDS[e.kind].words(e.value) for e in v), _all),
}  # fmt: skip
"""Every kind of check, by its key in a task file."""
