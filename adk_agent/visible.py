"""Makes one trace of what the assessor saw and of what the participants told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adk_agent.team_access import TeamAccess
from evals.trace import ASSESSOR, CALLER_KIND, USER, CallType, InteractionStep, Trace
from tau_bridge.a2a.messenger import Report
from tau_bridge.a2a.traceability import read_response_trace
from tau_bridge.errors import BridgeError
from tau_bridge.merging import merge

MAX_REPORTS = 500
"""Reports of one conversation that are read; an agent may send one with every reply."""


@dataclass(frozen=True, kw_only=True)
class Visible:
    """A trial's whole trace, and what of the reports could not be used, in words."""

    trace: Trace
    problems: tuple[str, ...]


def visible(
    observed: Trace, reports: Sequence[Report], team: TeamAccess, *, believe: bool = True
) -> Visible:
    """The trace of a trial, reports included.

    Where the team's members are known, the assessor's own calls come from outside of it, also when
    no member called another one.

    Args:
        observed: What the assessor and its proxy recorded.
        reports: What came back with the replies.
        team: Whose names and addresses they use.
        believe: Whether reports are used at all.
    """
    problems: list[str] = []
    told = []
    for report in reports[:MAX_REPORTS] if believe else ():
        try:
            told.append(
                read_response_trace(
                    report.value,
                    reporter=team.name,
                    aliases=team.aliases,
                    inside=report.step_id,
                    redact=team.redact,
                )
            )
        except BridgeError as error:
            problems.append(team.redact(str(error)))
    if believe and len(reports) > MAX_REPORTS:
        problems.append(f"{len(reports) - MAX_REPORTS} of {len(reports)} reported traces left out")
    merged = merge(team.redacted(observed), told)
    trace = merged.trace if team.roster is None else _asked_from_outside(merged.trace)
    return Visible(trace=trace, problems=(*problems, *merged.problems))


def _asked_from_outside(trace: Trace) -> Trace:
    steps = tuple(_opened_by_user(step) if _is_ours(step) else step for step in trace.steps)
    return Trace(trace_id=trace.trace_id, steps=steps)


def _is_ours(step: InteractionStep) -> bool:
    return step.call_type is CallType.AGENT and step.caller == ASSESSOR


def _opened_by_user(step: InteractionStep) -> InteractionStep:
    attributes = {**step.additional_attributes, CALLER_KIND: USER}
    return step.model_copy(update={"additional_attributes": attributes})
