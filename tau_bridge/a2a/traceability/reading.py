"""read_response_trace: a participant's report as steps of our own data model. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final

from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Provenance, Trace
from tau_bridge.a2a.traceability.drafts import Draft, drafts_of
from tau_bridge.a2a.traceability.fields import (
    Problems,
    amount,
    call_type,
    canonical_json,
    summary,
    time,
    valid_text,
    whole_amount,
)
from tau_bridge.a2a.traceability.limits import ReportLimits
from tau_bridge.a2a.traceability.names import Aliases, redact_urls
from tau_bridge.a2a.traceability.requests import arguments_text, message_text
from tau_bridge.recorder import shorten
from tau_bridge.redaction import redact_url

_DEFAULT_LIMITS: Final = ReportLimits()
_NO_ALIASES: Final[Mapping[str, str]] = MappingProxyType({})
_NONE_GIVEN: Final[Mapping[str, Any]] = MappingProxyType({})
_UNNAMED: Final = "unnamed"
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)

_OURS: Final = ("contradiction", "not_believed", "reported_as", "parent_guessed", "provenance")
"""Attributes that the assessor sets. A participant's are not kept."""
_MOVED: Final = (
    *("caller", "callee", "error", "request", "response"),
    *("call_type", "operation", "latency_ms", "cost_usd"),
)
"""Attributes that become fields of the step."""


@dataclass(frozen=True, kw_only=True)
class ReportedTrace:
    """One participant's account of its calls.

    `steps` have unique ids, are in the order of their start, and their trace id is `trace_id`.
    `inside` is the id of the observed step whose reply carried the report, where that is known:
    the steps at the report's root happened inside it. `problems` says in words, with counts, what
    of the report could not be used as it was.
    """

    trace_id: str
    reporter: str | None
    steps: tuple[InteractionStep, ...]
    problems: tuple[str, ...] = ()
    inside: str | None = None

    def as_trace(self, trace_id: str | None = None) -> Trace:
        """Return the report alone as a trace, under its own id or another one."""
        if trace_id is None or trace_id == self.trace_id:
            return Trace(trace_id=self.trace_id, steps=self.steps)
        steps = tuple(step.model_copy(update={"trace_id": trace_id}) for step in self.steps)
        return Trace(trace_id=trace_id, steps=steps)


def read_response_trace(
    value: Any,
    *,
    reporter: str | None,
    aliases: Mapping[str, str] = _NO_ALIASES,
    limits: ReportLimits = _DEFAULT_LIMITS,
    inside: str | None = None,
    redact: Callable[[str], str] | None = None,
) -> ReportedTrace:
    """Read the steps of a ResponseTrace, in either dialect, nested or flat.

    The caller of a step is `additional_attributes.caller`, else the callee of its parent step
    (the caller of that where it is a tool), else the reporter.

    Args:
        value: JSON, already parsed.
        reporter: Who sent it. None for a file by itself: a step at the root that names no caller
            was then opened from outside, by the user, and the marks of an assessor
            (`provenance`, `contradiction`) are believed.
        aliases: Names of agents by address. Known addresses are not kept.
        limits: How much is read and kept.
        inside: The observed step whose reply carried it.
        redact: What the observer does to the texts that it keeps, so that they stay equal.

    Raises:
        ReportError: `value` is no trace at all; the message has the JSON path.
    """
    problems: Problems = Problems()
    trace_id, drafts = drafts_of(value, limits, problems)
    reader = _Reader(drafts, trace_id, reporter, Aliases(aliases, redact), limits, problems)
    steps = in_order(reader.steps())
    _note_clocks(steps, problems)
    return ReportedTrace(
        trace_id=trace_id,
        reporter=reporter,
        steps=tuple(steps),
        problems=summary(problems),
        inside=inside,
    )


def in_order(steps: Iterable[InteractionStep]) -> list[InteractionStep]:
    """Sort steps by their start; steps that began together stay as they were given."""
    given = list(steps)
    keyed = zip(starts(given), given, strict=True)
    return [step for _, step in sorted(keyed, key=lambda item: item[0])]


def starts(steps: Iterable[InteractionStep]) -> Iterator[datetime]:
    """Yield the start of each step; for a step without one, that of the step before it."""
    before = _EARLIEST
    for step in steps:
        before = step.start_time or before
        yield before


class _Reader:
    def __init__(
        self,
        drafts: list[Draft],
        trace_id: str,
        reporter: str | None,
        aliases: Aliases,
        limits: ReportLimits,
        problems: Problems,
    ) -> None:
        self._drafts = drafts
        self._trace_id = trace_id
        self._reporter = reporter
        self._aliases = aliases
        self._limits = limits
        self._problems = problems
        self._names: dict[str, str] = {}
        self._dropped = frozenset((*_MOVED, "provenance", *(_OURS if reporter is not None else ())))
        self._attributes = [self._attributes_of(draft) for draft in drafts]
        self._kinds = [self._kind(at) for at in range(len(drafts))]
        self._callees = [self._callee(at) for at in range(len(drafts))]
        self._callers = [self._named_caller(at) for at in range(len(drafts))]
        self._settle_callers()

    def steps(self) -> list[InteractionStep]:
        """Return the steps; one that was sent twice is taken once."""
        seen: dict[str, list[tuple[InteractionStep, str | None]]] = {}
        copies: dict[str, str] = {}
        kept = []
        for at, draft in enumerate(self._drafts):
            step = self._step(at)
            same = seen.setdefault(draft.wanted_id or step.step_id, [])
            first = _find_copy(step, draft.wanted_parent, same) if same else None
            if first is not None:
                self._problems["step sent twice: taken once"] += 1
                copies[step.step_id] = first.step_id
                continue
            if same:
                self._problems["id of two steps: the later one given another"] += 1
            if len(same) < _COMPARED:
                same.append((step, draft.wanted_parent))
            kept.append(step)
        return [_put_below_first(step, copies) for step in kept] if copies else kept

    def _step(self, at: int) -> InteractionStep:
        draft, attributes = self._drafts[at], self._attributes[at]
        fields = draft.fields
        kept: dict[str, str] = {}
        request = self._text("request", self._request(at), kept)
        response = self._text("response", self._response(at), kept)
        error = self._text("error", self._error(at), kept)
        caller, from_user = self._callers[at] or (_UNNAMED, False)
        if from_user:
            kept[CALLER_KIND] = USER
        problems = self._problems
        return _make_step(
            {
                "step_id": draft.step_id,
                "trace_id": self._trace_id,
                "parent_step_id": self._parent_id(draft),
                "call_type": self._kinds[at],
                "name": self._operation(at),
                "caller": caller,
                "callee": self._callees[at],
                "start_time": time(fields.get("start_time"), "start time", problems),
                "end_time": time(fields.get("end_time"), "end time", problems),
                "latency_ms": amount(self._first(at, "latency_ms", "latency"), "latency", problems),
                "error": error,
                "cost": amount(self._first(at, "cost_usd", "cost"), "cost", problems),
                "total_tokens": whole_amount(
                    fields.get("total_tokens"), "number of tokens", problems
                ),
                "provenance": self._provenance(at),
                "request_text": request,
                "response_text": response,
                "additional_attributes": {**self._kept_attributes(fields, attributes), **kept},
            }
        )

    def _attributes_of(self, draft: Draft) -> Mapping[str, Any]:
        found = draft.fields.get("additional_attributes")
        if found is None:
            return _NONE_GIVEN
        if isinstance(found, dict) and None not in found.values():
            return found
        if not isinstance(found, Mapping):
            self._problems["additional attributes that are no object: left out"] += 1
            return _NONE_GIVEN
        return {str(key): item for key, item in found.items() if item is not None}

    def _kind(self, at: int) -> CallType:
        fields = self._drafts[at].fields
        for written in (self._attributes[at].get("call_type"), fields.get("call_type")):
            kind = None if written is None else call_type(written)
            if kind is not None:
                return kind
        if fields.get("action") == "agent_invocation" or "agent_url" in fields:
            return CallType.AGENT
        if "agent_name" in fields or ("requests" in fields and "action" not in fields):
            return CallType.AGENT
        if "action" not in fields and "tool_name" not in fields:
            self._problems["step that does not say whether agent or tool: taken as tool"] += 1
        return CallType.TOOL

    def _callee(self, at: int) -> str:
        fields = self._drafts[at].fields
        named = self._name(self._attributes[at].get("callee") or fields.get("callee"))
        named = named or self._name(fields.get("agent_name"))
        url = fields.get("agent_url")
        if named is None and isinstance(url, str) and url:
            named = self._name(self._aliases.name(url) or redact_url(url).rstrip("/"))
        named = named or self._name(fields.get("tool_name")) or self._name(fields.get("name"))
        if named is None:
            self._problems[f"step that does not name what it called: {_UNNAMED!r}"] += 1
        return named or _UNNAMED

    def _operation(self, at: int) -> str | None:
        """Return the name of the operation; a call to an agent has one only in its own field."""
        fields = self._drafts[at].fields
        if self._attributes[at].get("operation") == "":
            return None  # as it is written where a tool's step has no name
        told_name = self._name(self._attributes[at].get("operation"))
        if told_name is not None or self._kinds[at] is CallType.TOOL:
            return told_name or self._name(fields.get("tool_name") or fields.get("name"))
        others = any(fields.get(name) for name in ("callee", "agent_name", "agent_url"))
        return self._name(fields.get("name")) if others else None

    def _name(self, value: Any) -> str | None:
        if value is None or value == "" or isinstance(value, bool):
            return None
        if not isinstance(value, (str, int)):
            return None
        written = value if isinstance(value, str) else str(value)
        known = self._names.get(written)
        if known is not None:
            return known
        text = valid_text(written, self._problems)
        text = self._aliases.name(text) or redact_urls(self._aliases.in_text(text))
        self._names[written] = name = shorten(text, self._limits.max_name_chars)
        return name

    def _named_caller(self, at: int) -> tuple[str, bool] | None:
        fields, attributes = self._drafts[at].fields, self._attributes[at]
        name = self._name(attributes.get("caller")) or self._name(fields.get("caller"))
        return None if name is None else (name, False)

    def _settle_callers(self) -> None:
        """Find the callers that steps do not name: above a tool stands the agent that uses it."""
        for start in range(len(self._drafts)):
            way: list[int] = []
            at = start
            while self._callers[at] is None:
                way.append(at)
                parent = self._drafts[at].parent
                if parent is None:
                    self._callers[at] = self._root_caller(at)
                elif self._kinds[parent] is not CallType.TOOL:
                    self._callers[at] = (self._callees[parent], False)
                elif len(way) > len(self._drafts):
                    self._callers[at] = self._root_caller(at)
                else:
                    at = parent
            for below in way:
                self._callers[below] = self._callers[below] or self._callers[at]

    def _root_caller(self, at: int) -> tuple[str, bool]:
        reporter = self._reporter
        is_own_work = self._kinds[at] is CallType.AGENT and self._callees[at] == reporter
        return (USER, True) if reporter is None or is_own_work else (reporter, False)

    def _parent_id(self, draft: Draft) -> str | None:
        return draft.wanted_parent if draft.parent is None else self._drafts[draft.parent].step_id

    def _first(self, at: int, attribute: str, field: str) -> Any:
        fields, attributes = self._drafts[at].fields, self._attributes[at]
        for found in (attributes.get(attribute), fields.get(attribute), fields.get(field)):
            if found is not None:
                return found
        return None

    def _request(self, at: int) -> str | None:
        fields = self._drafts[at].fields
        for text in (self._attributes[at].get("request"), fields.get("request_text")):
            if isinstance(text, str):
                return self._aliases.redacted(text)
        is_agent = self._kinds[at] is CallType.AGENT
        names = ("requests", "parameters") if is_agent else ("parameters", "requests")
        given = [fields[name] for name in names if name in fields]
        asked = next(
            (value for value in given if value not in ({}, [])), given[0] if given else None
        )
        if asked is None:
            return None
        text = message_text(asked) if is_agent else arguments_text(asked)
        if text is None:
            self._problems["request nested too deep to be kept: left out"] += 1
        return None if text is None else self._aliases.redacted(text)

    def _response(self, at: int) -> str | None:
        fields = self._drafts[at].fields
        value = self._attributes[at].get("response")
        for name in ("response_text", "response", "result"):
            value = fields.get(name) if value is None else value
        text = None if value is None else message_text(value)
        return None if text is None else self._aliases.in_text(text)

    def _error(self, at: int) -> str | None:
        found = (self._drafts[at].fields.get("error"), self._attributes[at].get("error"))
        for value in found:
            if value:
                text = value if isinstance(value, str) else canonical_json(value)
                return None if text is None else self._aliases.in_text(text)
        return None

    def _text(self, what: str, text: str | None, kept: dict[str, str]) -> str | None:
        if text is None:
            return None
        if len(text) > self._limits.max_text_chars:
            kept[f"{what}_chars"] = str(len(text))
            text = shorten(text, self._limits.max_text_chars)
        return valid_text(text, self._problems)

    def _provenance(self, at: int) -> Provenance:
        if self._reporter is not None:
            return Provenance.REPORTED
        fields, attributes = self._drafts[at].fields, self._attributes[at]
        seen = attributes.get("provenance", fields.get("provenance")) == Provenance.OBSERVED
        return Provenance.OBSERVED if seen else Provenance.REPORTED

    def _kept_attributes(
        self, fields: Mapping[str, Any], attributes: Mapping[str, Any]
    ) -> dict[str, str]:
        given = {key: value for key, value in attributes.items() if key not in self._dropped}
        url = fields.get("agent_url")
        if isinstance(url, str) and url and self._aliases.name(url) is None:
            given.setdefault("agent_url", redact_url(url))
        if isinstance(fields.get("step_type"), str):
            given.setdefault("step_type", fields["step_type"])
        if not given:
            return {}
        limit = self._limits.max_attributes
        if len(given) > limit:
            self._problems[f"attribute beyond {limit} of a step: left out"] += len(given) - limit
        return dict(self._attribute(*item) for item in sorted(given.items())[:limit])

    def _attribute(self, key: str, value: Any) -> tuple[str, str]:
        text = value if isinstance(value, str) else canonical_json(value) or ""
        text = self._aliases.in_text(valid_text(text, self._problems))
        limit = self._limits.max_name_chars
        return shorten(valid_text(key, self._problems), limit), shorten(text, limit)


_STEP_FIELDS: Final = set(InteractionStep.model_fields)
_set: Final = object.__setattr__


def _make_step(values: dict[str, Any]) -> InteractionStep:
    """Build a step of values that were checked: all fields, in their order, each of its type.

    To validate them again would double the time of reading.
    """
    step = InteractionStep.__new__(InteractionStep)
    _set(step, "__dict__", values)
    _set(step, "__pydantic_fields_set__", _STEP_FIELDS)
    _set(step, "__pydantic_extra__", None)
    _set(step, "__pydantic_private__", None)
    return step


_COMPARED: Final = 8
"""Different steps of one id that a further one is compared with, so that the time stays linear."""


def _find_copy(
    step: InteractionStep, parent: str | None, same: list[tuple[InteractionStep, str | None]]
) -> InteractionStep | None:
    return next((other for other, above in same if _is_copy(step, parent, other, above)), None)


def _is_copy(
    step: InteractionStep, parent: str | None, other: InteractionStep, other_parent: str | None
) -> bool:
    """Tell whether two steps of one id are the same, reported once nested and once in the list."""
    if parent != other_parent and None not in (parent, other_parent):
        return False
    same = {"step_id": step.step_id, "parent_step_id": step.parent_step_id}
    return other.model_copy(update=same) == step


def _put_below_first(step: InteractionStep, copies: Mapping[str, str]) -> InteractionStep:
    """Put a step whose parent was sent twice below the one that was taken."""
    first = copies.get(step.parent_step_id or "")
    return step if first is None else step.model_copy(update={"parent_step_id": first})


def _note_clocks(steps: list[InteractionStep], problems: Problems) -> None:
    starts = {step.step_id: step.start_time for step in steps}
    for step in steps:
        start, end = step.start_time, step.end_time
        if start is None:
            continue
        if end is not None and end < start:
            problems["step that ends before it begins"] += 1
        before = starts.get(step.parent_step_id or "")
        if before is not None and start < before:
            problems["step that begins before its parent"] += 1
