"""plain_steps: the steps of a trace that is in one of the two dialects to the letter. Pure.

Most traces are, and large ones take long to read with care. This reads them field by field, all
steps at once, and gives up at the first thing that needs care: what it returns is what the careful
reader returns, without a problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain, repeat
from operator import eq
from typing import Any, Final

from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Provenance
from tau_bridge.a2a.traceability.fields import Problems, amount, time, whole_amount
from tau_bridge.a2a.traceability.limits import ReportLimits
from tau_bridge.a2a.traceability.names import public_url
from tau_bridge.a2a.traceability.requests import arguments_text, message_text

_TRACE: Final = frozenset(("trace_id", "steps"))
_COMMON: Final = frozenset(
    ("step_id", "trace_id", "parent_step_id", "call_type", "start_time", "end_time", "latency")
) | {"step_type", "error", "cost", "total_tokens", "additional_attributes"}
_SPECIFIED: Final = _COMMON | {"step_action"}
_FLAT: Final = _COMMON | {"name", "parameters", "requests"}
_INVOCATIONS: Final = {
    ("agent_invocation",): frozenset(("agent_name", "agent_url", "requests")),
    ("tool_invocation",): frozenset(("tool_name", "parameters")),
}
_MOVED: Final = frozenset(
    ("caller", "callee", "error", "request", "response", "call_type", "operation", "latency_ms")
) | {"cost_usd", "provenance"}
_KINDS: Final = dict(CallType.__members__)
_EMPTY: Final[tuple[Any, ...]] = ({}, [])
_MOST_TOOLS: Final = 100
"""Tools above each other that are gone through to find who used them."""
_MOST_TIME_CHARS: Final = 64
_set: Final = object.__setattr__
_FIELDS: Final = set(InteractionStep.model_fields)


class _NeedsCareError(Exception):
    """The trace is not plain. Caught in this module."""


def made_step(values: dict[str, Any]) -> InteractionStep:
    """The step of these values: all fields, in their order, each of its type.

    Its reader has checked every value. To validate them again would double the time of reading.
    """
    step = InteractionStep.__new__(InteractionStep)
    _set(step, "__dict__", values)
    _set(step, "__pydantic_fields_set__", _FIELDS)
    _set(step, "__pydantic_extra__", None)
    _set(step, "__pydantic_private__", None)
    return step


def plain_steps(value: Any, limits: ReportLimits) -> tuple[str, list[InteractionStep]] | None:
    """The id (may be empty) and the steps of a trace in a file by itself; None if it needs care."""
    try:
        steps = _plain_list(value, limits)
        return value["trace_id"], _Plain(steps, limits).steps(value["trace_id"])
    except _NeedsCareError:
        return None


def _plain_list(value: Any, limits: ReportLimits) -> list[dict[str, Any]]:
    if not isinstance(value, dict) or value.keys() != _TRACE:
        raise _NeedsCareError
    steps, trace_id = value["steps"], value["trace_id"]
    if not isinstance(steps, list) or len(steps) > limits.max_steps:
        raise _NeedsCareError
    if not isinstance(trace_id, str) or len(trace_id) > limits.max_name_chars:
        raise _NeedsCareError
    if not _is_writable(trace_id):
        raise _NeedsCareError
    _only_types(steps, dict)
    for shape in set(map(tuple, steps)):
        if not (_SPECIFIED.issuperset(shape) or _FLAT.issuperset(shape)):
            raise _NeedsCareError
    return steps


def _only_types(values: Iterable[Any], *types: type) -> None:
    if not set(map(type, values)) <= set(types):
        raise _NeedsCareError


class _Plain:
    """The columns of a trace: of each field, the values of all steps."""

    def __init__(self, steps: list[dict[str, Any]], limits: ReportLimits) -> None:
        self._steps = steps
        self._limits = limits
        self._problems: Problems = Problems()
        self._attributes = self._read_attributes()
        self._called = [_called(step) for step in steps]
        self._kinds = self._read_kinds()

    def steps(self, trace_id: str) -> list[InteractionStep]:
        """The steps.

        Raises:
            _NeedsCareError: One of them needs care.
        """
        ids, parents = self._read_ids()
        callees = self._read_callees()
        callers = self._read_callers(ids, parents, callees)
        kept = self._read_kept()
        for at, caller in enumerate(callers):
            if caller is None:
                callers[at], kept[at][CALLER_KIND] = USER, USER
        columns = {
            "step_id": ids,
            "trace_id": repeat(trace_id, len(ids)),
            "parent_step_id": parents,
            "call_type": self._kinds,
            "name": self._read_operations(),
            "caller": callers,
            "callee": callees,
            "start_time": self._times("start_time", "start time"),
            "end_time": self._times("end_time", "end time"),
            "latency_ms": self._amounts("latency_ms", "latency"),
            "error": self._texts(self._errors()),
            "cost": self._amounts("cost_usd", "cost"),
            "total_tokens": self._read_tokens(),
            "provenance": self._read_provenance(),
            "request_text": self._texts(self._requests()),
            "response_text": self._texts(self._attribute("response")),
            "additional_attributes": kept,
        }
        if self._problems:
            raise _NeedsCareError
        names, rows = tuple(columns), zip(*columns.values(), strict=True)
        return [made_step(dict(zip(names, row, strict=False))) for row in rows]

    def _column(self, name: str) -> list[Any]:
        return [step.get(name) for step in self._steps]

    def _attribute(self, name: str) -> list[Any]:
        return [attributes.get(name) for attributes in self._attributes]

    def _read_attributes(self) -> list[dict[str, str]]:
        found = [{} if given is None else given for given in self._column("additional_attributes")]
        _only_types(found, dict)
        _only_types(chain.from_iterable(map(dict.values, found)), str)
        return found

    def _read_kinds(self) -> list[CallType]:
        told = zip(self._attribute("call_type"), self._column("call_type"), strict=True)
        written = [first or second for first, second in told]
        _only_types(written, str)
        if not _KINDS.keys() >= set(written):
            raise _NeedsCareError
        return [_KINDS[name] for name in written]

    def _read_ids(self) -> tuple[list[str], list[str | None]]:
        ids = self._column("step_id")
        self._check_names(ids)
        known = set(ids)
        parents = [parent or None for parent in self._column("parent_step_id")]
        _only_types(parents, str, type(None))
        if (
            len(known) < len(ids)
            or not known.issuperset({*parents} - {None})
            or any(map(eq, ids, parents))
        ):
            raise _NeedsCareError
        return ids, parents

    def _read_callees(self) -> list[str]:
        told = zip(self._attribute("callee"), self._called, strict=True)
        callees: list[Any] = [
            callee or called.get("agent_name") or called.get("tool_name") or called.get("name")
            for callee, called in told
        ]
        self._check_names(callees)
        return callees

    def _read_operations(self) -> list[str | None]:
        told = zip(self._attribute("operation"), self._kinds, self._called, strict=True)
        names = [
            name or (called.get("tool_name") or called.get("name"))
            if name != "" and (name or kind is CallType.TOOL)
            else None
            for name, kind, called in told
        ]
        self._check_names([name for name in names if name is not None])
        return names

    def _read_callers(
        self, ids: list[str], parents: list[str | None], callees: list[str]
    ) -> list[str | None]:
        """Who called; None is the user."""
        callers: list[str | None] = [caller or None for caller in self._attribute("caller")]
        self._check_names([caller for caller in callers if caller is not None])
        if None not in callers:
            return callers
        places = {step_id: at for at, step_id in enumerate(ids)}
        above = [None if parent is None else places[parent] for parent in parents]
        return [
            caller or _user_of(at, above, self._kinds, callers, callees)
            for at, caller in enumerate(callers)
        ]

    def _check_names(self, names: list[Any]) -> None:
        """Names that are texts, neither empty nor too long, and no addresses."""
        _only_types(names, str)
        different = set(names)
        if not all(0 < len(name) <= self._limits.max_name_chars for name in different):
            raise _NeedsCareError
        whole = "\n".join(different)
        if "://" in whole or not _is_writable(whole):
            raise _NeedsCareError

    def _times(self, name: str, what: str) -> list[datetime | None]:
        return [
            None if written is None else _time(written, what, self._problems)
            for written in self._column(name)
        ]

    def _amounts(self, attribute: str, what: str) -> list[float | None]:
        told = zip(self._attribute(attribute), self._column(what), strict=True)
        values = [second if first is None else first for first, second in told]
        if {*map(type, values)} == {float} and all(0.0 <= value < math.inf for value in values):
            return values
        return [None if value is None else amount(value, what, self._problems) for value in values]

    def _read_tokens(self) -> list[int | None]:
        return [
            None if value is None else whole_amount(value, "number of tokens", self._problems)
            for value in self._column("total_tokens")
        ]

    def _errors(self) -> list[Any]:
        told = zip(self._column("error"), self._attribute("error"), strict=True)
        return [first or second or None for first, second in told]

    def _read_provenance(self) -> list[Provenance]:
        observed, reported = Provenance.OBSERVED, Provenance.REPORTED
        seen = observed.value
        return [observed if told == seen else reported for told in self._attribute("provenance")]

    def _requests(self) -> list[Any]:
        told = zip(self._attribute("request"), self._kinds, self._called, strict=True)
        return [
            _request(kind, called) if request is None else request for request, kind, called in told
        ]

    def _texts(self, texts: list[Any]) -> list[str | None]:
        _only_types(texts, str, type(None))
        written = [text for text in texts if text]
        most = max(map(len, written), default=0)
        if most > self._limits.max_text_chars or not _is_writable("".join(written)):
            raise _NeedsCareError
        return texts

    def _read_kept(self) -> list[dict[str, str]]:
        """The attributes that become no field of the step; each its own object."""
        urls = [called.get("agent_url") for called in self._called]
        given = zip(self._attributes, urls, self._column("step_type"), strict=True)
        kept = [
            {}
            if url is None and kind is None and _MOVED.issuperset(attributes)
            else _kept(attributes, url, kind)
            for attributes, url, kind in given
        ]
        texts = [*chain.from_iterable(kept), *chain.from_iterable(map(dict.values, kept))]
        longest = max(map(len, texts), default=0)
        most = max(map(len, kept), default=0)
        if longest > self._limits.max_name_chars or most > self._limits.max_attributes:
            raise _NeedsCareError
        if not _is_writable("".join(texts)):
            raise _NeedsCareError
        return kept


def _called(step: dict[str, Any]) -> dict[str, Any]:
    """What says whom the step called: its invocation, or in the flat dialect the step itself."""
    if "step_action" not in step:
        return step
    action = step["step_action"]
    known = _INVOCATIONS.get(tuple(action)) if isinstance(action, dict) else None
    invocation = next(iter(action.values())) if known is not None else None
    if not isinstance(invocation, dict) or not (known or frozenset()).issuperset(invocation):
        raise _NeedsCareError
    return invocation


def _kept(attributes: dict[str, str], url: Any, kind: Any) -> dict[str, str]:
    if _MOVED.issuperset(attributes):
        kept = {}
    else:
        kept = {key: text for key, text in sorted(attributes.items()) if key not in _MOVED}
    if isinstance(url, str) and url and "agent_url" not in kept:
        kept = dict(sorted({**kept, "agent_url": public_url(url)}.items()))
    if isinstance(kind, str) and "step_type" not in kept:
        kept = dict(sorted({**kept, "step_type": kind}.items())) if kept else {"step_type": kind}
    return kept


def _user_of(
    at: int,
    above: Sequence[int | None],
    kinds: Sequence[CallType],
    callers: Sequence[str | None],
    callees: Sequence[str],
) -> str | None:
    """Who called a step that does not tell: above a tool stands whoever uses it."""
    for _ in range(_MOST_TOOLS):
        parent = above[at]
        if parent is None:
            return None
        if kinds[parent] is not CallType.TOOL:
            return callees[parent]
        if callers[parent] is not None:
            return callers[parent]
        at = parent
    raise _NeedsCareError


def _request(kind: CallType, called: dict[str, Any]) -> str | None:
    is_agent = kind is CallType.AGENT
    asked = called.get("requests" if is_agent else "parameters")
    if not asked:
        other = called.get("parameters" if is_agent else "requests")
        if asked is None or (asked in _EMPTY and other is not None and other not in _EMPTY):
            asked = other
    if asked is None:
        return None
    text = message_text(asked) if is_agent else arguments_text(asked)
    if text is None:
        raise _NeedsCareError
    return text


def _time(written: Any, what: str, problems: Problems) -> datetime | None:
    """The same as `time`, sooner for a text in UTC."""
    if isinstance(written, str) and written[4:5] == "-" and len(written) <= _MOST_TIME_CHARS:
        try:
            found = datetime.fromisoformat(written)
        except ValueError:
            raise _NeedsCareError from None
        if found.tzinfo is UTC:
            return found
    return time(written, what, problems)


def _is_writable(text: str) -> bool:
    """Whether the text has no half characters."""
    try:
        return text.isascii() or bool(text.encode())
    except UnicodeEncodeError:
        return False
