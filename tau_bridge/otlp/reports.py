"""Spans of a trial as reports of its agents, one for each call of ours that they belong to. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from evals.trace import CALLER_KIND, USER, CallType, Trace
from tau_bridge.a2a.traceability import ReportError
from tau_bridge.otlp.decoding import RawSpan
from tau_bridge.trace_context import wire_span_id
from tau_bridge.trace_formats.otlp import SpanCollector

_OWN_ID: Final = "span with the id of one of our own: left out"
_LOOSE: Final = "span whose parent did not come: taken as a call of the agent"


@dataclass(frozen=True, kw_only=True)
class SpanReport:
    """Steps in the flat dialect, and the observed step that they happened in, where it is known."""

    value: Mapping[str, Any]
    step_id: str | None


def reports_of_spans(
    spans: Sequence[RawSpan], observed: Trace, *, agent: str, members: Sequence[str] = ()
) -> tuple[list[SpanReport], list[str]]:
    """Return reports of the spans, and what of them could not be used, in words with counts.

    - Spans belong to the call of ours whose `traceparent` they continue.
    - An agent that is alone at the top of such calls, under one name and not that of another
      member, is the agent that we called: its span is our call once more, and not a further one.
    - Spans of another kind than agents, tools and models are no steps.

    Args:
        spans: The spans of the trial.
        observed: The steps of the trial that were seen.
        agent: The name that the called agent has in them.
        members: The names of its team.
    """
    ours = {wire_span_id(observed.trace_id, step.step_id): step.step_id for step in observed.steps}
    root = wire_span_id(observed.trace_id)
    foreign = [span for span in spans if span.span_id not in ours and span.span_id != root]
    problems: Counter[str] = Counter()
    problems[_OWN_ID] = len(spans) - len(foreign)
    steps, told = _steps(foreign)
    groups = _groups(steps, ours)
    problems[_LOOSE] = sum(
        step.get("parent_step_id") not in (None, root)
        for step in groups[None]
        if _is_top(step, steps)
    )
    _name_callees(groups, steps, agent, members)
    for top in (step for step in steps.values() if _is_top(step, steps)):
        top.pop("parent_step_id", None)
    reports = [
        SpanReport(value={"trace_id": observed.trace_id, "steps": found}, step_id=inside)
        for inside, found in groups.items()
        if found
    ]
    counted = [f"{count} x {what}" for what, count in sorted(problems.items()) if count]
    return reports, [f"spans over OTLP: {what}" for what in (*told, *counted)]


def _steps(spans: Sequence[RawSpan]) -> tuple[dict[str, dict[str, Any]], tuple[str, ...]]:
    """Return the steps that the spans make, by their id, and what could not be read."""
    if not spans:
        return {}, ()
    collector = SpanCollector()
    collector.add({"resourceSpans": [{"scopeSpans": [{"spans": [s.value for s in spans]}]}]})
    _, report = next(collector.reports())
    if isinstance(report, ReportError):
        return {}, (str(report),)
    steps = {step["step_id"]: dict(step) for step in report.value["steps"]}
    for step in steps.values():
        step.pop("additional_attributes", None)  # marks that only an assessor sets
    return steps, report.problems


def _is_top(step: Mapping[str, Any], steps: Mapping[str, Any]) -> bool:
    return step.get("parent_step_id") not in steps


def _groups(
    steps: Mapping[str, dict[str, Any]], ours: Mapping[str, str]
) -> defaultdict[str | None, list[dict[str, Any]]]:
    """Return the steps by the step of ours above them; those in a circle are below none."""
    above: dict[str, str | None] = {}
    for start in steps:
        way: dict[str, None] = {}
        at: str | None = start
        while at is not None and at in steps and at not in above and at not in way:
            way[at] = None
            at = steps[at].get("parent_step_id")
        found = None if at is None else above.get(at, ours.get(at))
        above.update(dict.fromkeys(way, found))
    groups: defaultdict[str | None, list[dict[str, Any]]] = defaultdict(list)
    for step_id, step in steps.items():
        groups[above[step_id]].append(step)
    return groups


def _name_callees(
    groups: Mapping[str | None, Sequence[dict[str, Any]]],
    steps: Mapping[str, Any],
    agent: str,
    members: Sequence[str],
) -> None:
    """Call the agent that we called by the name that it has in the trace."""
    tops = [
        [step for step in found if _is_top(step, steps) and step["call_type"] == CallType.AGENT]
        for inside, found in groups.items()
        if inside is not None
    ]
    names = {step["callee"] for found in tops for step in found}
    if len(names) != 1 or any(len(found) > 1 for found in tops) or names & {*members} - {agent}:
        return
    (own,) = names
    for found in tops:
        for top in found:
            top.update(callee=agent, additional_attributes={CALLER_KIND: USER})
            top.pop("request_text", None)  # in a form of its own
            top.pop("caller", None)
    if (
        not members
    ):  # its calls are under its own name, as in a report: tasks do not call it by address
        tops_of_own = {top["step_id"] for found in tops for top in found}
        above = _agents_above(steps)
        for step_id, step in steps.items():
            if above[step_id] in tops_of_own:
                step.setdefault("caller", own)
        return
    for step in steps.values():
        if step.get("caller") == own:
            step["caller"] = agent


def _agents_above(steps: Mapping[str, Mapping[str, Any]]) -> dict[str, str | None]:
    """Return the id of the nearest agent's step above each; None without one, and in a circle."""
    above: dict[str, str | None] = {}
    for start in steps:
        way: dict[str, None] = {}
        at: Any = start
        found: str | None = None
        while at in steps and at not in way:
            if at in above:
                found = above[at]
                break
            way[at] = None
            at = steps[at].get("parent_step_id")
            if at in steps and steps[at]["call_type"] == CallType.AGENT:
                found = at
                break
        above.update(dict.fromkeys(way, found))
    return above
