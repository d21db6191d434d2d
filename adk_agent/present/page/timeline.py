"""timeline: the steps of a trace as a tree with their times, as the page keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from adk_agent.present.page.step_tree import shown_steps
from adk_agent.present.page.team_calls import calls_between_agents
from adk_agent.present.page.texts import clipped
from evals.trace import (
    ASSESSOR,
    CONTRADICTION,
    NOT_BELIEVED,
    CallType,
    InteractionStep,
    Provenance,
    Trace,
)

MOST_STEP_TEXT = 1_500


def timeline(trace: Trace, roster: Sequence[str] = ()) -> dict[str, Any]:
    """Return the callees, and the steps as `shown_steps` orders them, with times in milliseconds.

    Steps that nobody timed are counted, and so are those beyond the bounds.

    Args:
        trace: The steps of one trial.
        roster: All members of the team, as for `calls_between_agents`.
    """
    shown = shown_steps(trace)
    span = _span([step for step, _ in shown if step.start_time is not None])
    drawn_as = {step.step_id: callee for step, callee in calls_between_agents(trace, roster)}
    lanes: dict[str, int] = {}
    steps = []
    for step, depth in shown:
        told = _step(step, lanes.setdefault(step.callee, len(lanes)), span)
        optional = {
            "depth": depth or None,
            "tokens": step.total_tokens,
            "cost": step.cost,
            "team": drawn_as.get(step.step_id),
        }
        steps.append(told | {name: each for name, each in optional.items() if each is not None})
    return {
        "lanes": list(lanes),
        "steps": steps,
        "untimed": sum(step.start_time is None for step, _ in shown),
        "left_out": len(trace.steps) - len(shown),
    }


def without_conversation(trace: Trace) -> Trace:
    """Return a trace without the texts that the conversation has already, most of all that it holds."""
    untold = {"request_text": None, "response_text": None}
    steps = (
        step.model_copy(update=untold) if _in_conversation(step) else step for step in trace.steps
    )
    return trace.model_copy(update={"steps": tuple(steps)})


_Span = tuple[datetime, datetime]


def _span(steps: Sequence[InteractionStep]) -> _Span | None:
    """From the first start to the last end; of what was observed, where anything was."""
    seen = [step for step in steps if step.provenance is Provenance.OBSERVED] or steps
    starts = [step.start_time for step in seen if step.start_time is not None]
    ends = [step.end_time for step in seen if step.end_time is not None]
    return (min(starts), max([*starts, *ends])) if starts else None


def _step(step: InteractionStep, lane: int, span: _Span | None) -> dict[str, Any]:
    told = {
        "lane": lane,
        "from": step.caller,
        "kind": step.call_type.value,
        "name": step.name,
        "at": _offset_ms(span, step.start_time),
        "to": _offset_ms(span, step.end_time),
        "ms": _lasted_ms(step),
        "error": clipped(step.error, MOST_STEP_TEXT) if step.error is not None else None,
        "told": step.provenance is Provenance.REPORTED,
        "note": _note(step),
    }
    if not _in_conversation(step):
        told["asked"] = clipped(step.request_text or "", MOST_STEP_TEXT)
        told["answered"] = clipped(step.response_text or "", MOST_STEP_TEXT)
    return told


def _note(step: InteractionStep) -> str | None:
    """Return what speaks against a reported step."""
    if NOT_BELIEVED in step.additional_attributes:
        return "not believed: the assessor should have seen this call, and did not"
    return step.additional_attributes.get(CONTRADICTION)


def _in_conversation(step: InteractionStep) -> bool:
    """Tell whether the conversation has the texts of a step already."""
    if step.provenance is Provenance.REPORTED:
        return False
    return step.caller == ASSESSOR or step.call_type is not CallType.AGENT


def _offset_ms(span: _Span | None, time: datetime | None) -> float | None:
    """Milliseconds since the begin; clocks of participants may differ, so never out of the span."""
    if span is None or time is None:
        return None
    begin, end = span
    return _ms(begin, min(max(time, begin), end))


def _lasted_ms(step: InteractionStep) -> float | None:
    lasted = step.latency_ms
    if lasted is None and step.start_time is not None and step.end_time is not None:
        lasted = _ms(step.start_time, step.end_time)
    return None if lasted is None else max(0.0, round(lasted, 3))


def _ms(begin: datetime, end: datetime) -> float:
    return round((end - begin).total_seconds() * 1000, 3)
