"""Flattens a report into drafts of steps, one list, whatever the nesting. Pure.

A draft is a step as it was written, with its place: which step holds the trace that it stands in,
and which step is its parent. Ids become unique here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tau_bridge.a2a.traceability.fields import Problems, snake_case, valid_text
from tau_bridge.a2a.traceability.limits import ReportLimits
from tau_bridge.errors import ReportError
from tau_bridge.recorder import shorten

_SHOWN_KEYS = 5


@dataclass(kw_only=True, slots=True)
class Draft:
    """One step as it was written, with names in snake_case."""

    fields: dict[str, Any]
    """The step's own fields and, in the specification's dialect, those of its action."""
    wanted_id: str | None
    wanted_parent: str | None
    scope: _Scope
    step_id: str = ""
    parent: int | None = None
    """The parent's place in the list of drafts."""


@dataclass(kw_only=True, slots=True)
class _Scope:
    """One trace: the whole report, or a trace nested in a step of another."""

    holder: int | None = None
    outer: _Scope | None = None
    depth: int = 1
    places: dict[str, int] = field(default_factory=dict)


def drafts_of(value: Any, limits: ReportLimits, problems: Problems) -> tuple[str, list[Draft]]:
    """Return the report's trace id (may be empty) and its steps, outer ones before nested ones.

    Raises:
        ReportError: `value` is no trace at all.
    """
    trace = _trace_object(value)
    collector = _Collector(limits, problems)
    collector.add(trace["steps"], _Scope(), "$.steps")
    if trace["steps"] and not collector.drafts:
        raise ReportError(f"no step can be read: {collector.first_fault}")
    _set_ids(collector.drafts, problems)
    _set_parents(collector.drafts, problems)
    trace_id = trace.get("trace_id")
    kept = _text_id(trace_id, limits, problems)
    return kept or "", collector.drafts


def _trace_object(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ReportError(
            f"$: a trace is an object with a list 'steps', not {describe_json(value)}"
        )
    trace = snake_case(value)
    if set(trace) == {"trace_id"}:
        return {**trace, "steps": []}  # JSON of protobuf leaves an empty list out
    if "steps" not in trace:
        raise ReportError(f"$: a trace has a list 'steps'; this is {describe_json(value)}")
    if not isinstance(trace["steps"], list):
        raise ReportError(f"$.steps: must be a list of steps, not {describe_json(trace['steps'])}")
    return trace


def describe_json(value: Any) -> str:
    """Describe a JSON value for a message."""
    if isinstance(value, Mapping):
        keys = [repr(shorten(str(key), 40)) for key in list(value)[:_SHOWN_KEYS]]
        more = ", ..." if len(value) > _SHOWN_KEYS else ""
        return f"an object with {', '.join(keys)}{more}" if keys else "an empty object"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str):
        return f"the text {shorten(value, 60)!r}"
    return "null" if value is None else f"{value!r}"[:60]


class _Collector:
    """Walks through a trace and those nested in it. Recursion ends at the depth limit."""

    def __init__(self, limits: ReportLimits, problems: Problems) -> None:
        self.drafts: list[Draft] = []
        self.first_fault = ""
        self._limits = limits
        self._problems = problems

    def add(self, steps: list[Any], scope: _Scope, path: str) -> None:
        for at, step in enumerate(steps):
            if len(self.drafts) >= self._limits.max_steps:
                limit = self._limits.max_steps
                self._problems[f"step beyond the limit of {limit}: left out"] += len(steps) - at
                return
            draft = self._draft(step, scope)
            if draft is None:
                self._fault(step, f"{path}[{at}]")
                continue
            self.drafts.append(draft)
            if "response_trace" in draft.fields:
                self._add_nested(draft, scope, f"{path}[{at}]")

    def _draft(self, step: Any, scope: _Scope) -> Draft | None:
        if not isinstance(step, (dict, Mapping)):  # the first of them is quick to tell
            return None
        fields = snake_case(step)
        if not _ACTIONS.isdisjoint(fields):
            fields |= _action_fields(fields)
        if _SAYING.isdisjoint(fields):
            return None
        return Draft(
            fields=fields,
            wanted_id=_text_id(fields.get("step_id"), self._limits, self._problems),
            wanted_parent=_text_id(fields.get("parent_step_id"), self._limits, self._problems),
            scope=scope,
        )

    def _fault(self, step: Any, path: str) -> None:
        what = f"a step is an object, not {describe_json(step)}"
        if isinstance(step, Mapping):
            what = (
                "a step says what was called ('step_action', 'name' or 'callee');"
                f" this is {describe_json(step)}"
            )
        self.first_fault = self.first_fault or f"{path}: {what}"
        self._problems["entry that is no step: left out"] += 1

    def _add_nested(self, draft: Draft, scope: _Scope, path: str) -> None:
        nested = draft.fields.pop("response_trace")
        steps = snake_case(nested).get("steps", []) if isinstance(nested, Mapping) else None
        if not isinstance(steps, list):
            self._problems["nested trace without a list of steps: left out"] += 1
        elif steps and scope.depth >= self._limits.max_depth:
            what = f"trace nested deeper than {self._limits.max_depth} levels: left out"
            self._problems[what] += 1
        else:
            inner = _Scope(holder=len(self.drafts) - 1, outer=scope, depth=scope.depth + 1)
            self.add(steps, inner, f"{path}.response_trace.steps")


_INVOCATIONS = ("agent_invocation", "tool_invocation")
_ACTIONS = frozenset(("step_action", *_INVOCATIONS))


def _action_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the invocation in `step_action`, which may also stand beside it."""
    action = fields.pop("step_action", None)
    holders = [fields, snake_case(action)] if isinstance(action, (dict, Mapping)) else [fields]
    found: dict[str, Any] = {}
    for holder in holders:
        for kind in _INVOCATIONS:
            invocation = holder.pop(kind, None)
            if isinstance(invocation, (dict, Mapping)):
                found |= {"action": kind, **snake_case(invocation)}
    return found


_SAYING = frozenset(
    ("action", "agent_name", "agent_url", "tool_name", "name", "callee", "call_type")
)


def _text_id(value: Any, limits: ReportLimits, problems: Problems) -> str | None:
    if value is None or value == "" or not isinstance(value, (str, int, float)):
        return None
    if isinstance(value, bool):
        return None
    return shorten(valid_text(str(value), problems), limits.max_name_chars)


def _set_ids(drafts: list[Draft], problems: Problems) -> None:
    """Give every draft an id of its own; the first that wants one gets it."""
    used = {draft.wanted_id for draft in drafts if draft.wanted_id is not None}
    given: set[str] = set()
    counts: dict[str, int] = {}
    for at, draft in enumerate(drafts):
        wanted = draft.wanted_id
        if wanted is None:
            problems["step without an id: given one"] += 1
        else:
            draft.scope.places.setdefault(wanted, at)
        if wanted is not None and wanted not in given:
            draft.step_id = wanted
        else:
            draft.step_id = _free_id(wanted or "step", counts, used)
        given.add(draft.step_id)


def _free_id(stem: str, counts: dict[str, int], used: set[str]) -> str:
    while True:
        counts[stem] = counts.get(stem, 1) + 1
        made = f"{stem}#{counts[stem]}"
        if made not in used:
            used.add(made)
            return made


def _set_parents(drafts: list[Draft], problems: Problems) -> None:
    everywhere: dict[str, int] = {}
    for at, draft in enumerate(drafts):
        if draft.wanted_id is not None:
            everywhere.setdefault(draft.wanted_id, at)
    for at, draft in enumerate(drafts):
        draft.parent = draft.scope.holder
        if draft.wanted_parent is None:
            continue
        found = _place(draft.wanted_parent, draft.scope, everywhere, at)
        if found is None:
            problems["parent that does not exist in the report"] += 1
        else:
            draft.parent = found


def _place(wanted: str, scope: _Scope, everywhere: Mapping[str, int], own: int) -> int | None:
    """Find the wanted parent: in the same trace, else in those around it, else anywhere."""
    at: _Scope | None = scope
    while at is not None:
        found = at.places.get(wanted)
        if found is not None and found != own:
            return found
        at = at.outer
    found = everywhere.get(wanted)
    return None if found == own else found
