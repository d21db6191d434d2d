"""Makes one trace of what the assessor saw and of what the participants told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from adk_agent.play.team_access import TeamAccess
from evals.trace import Trace
from tau_bridge.a2a.messenger import Conversation, Report
from tau_bridge.a2a.traceability import read_response_trace
from tau_bridge.errors import BridgeError
from tau_bridge.recorder import TraceRecorder
from tau_bridge.trace_merging import merge

MAX_REPORTED_STEPS = 20_000
"""Steps of all reports of one conversation that are read; an agent may send one with each reply."""


@dataclass(frozen=True, kw_only=True)
class Visible:
    """A trial's whole trace, and what of the reports could not be used, in words."""

    trace: Trace
    problems: tuple[str, ...]


async def all_visible(
    recorder: TraceRecorder, conversation: Conversation, team: TeamAccess, *, believe: bool = True
) -> Visible:
    """Return the trace of a trial whose conversation has ended, reports included."""
    # What participants report can be long: reading it must not hold up the other trials.
    seen = await asyncio.to_thread(
        visible, recorder.trace(), conversation.reports, team, believe=believe
    )
    left_out = conversation.reports_left_out
    if not left_out:
        return seen
    told = f"{left_out} reports not kept: too many or too long for one conversation"
    return replace(seen, problems=(*seen.problems, told))


def visible(
    observed: Trace, reports: Sequence[Report], team: TeamAccess, *, believe: bool = True
) -> Visible:
    """Return the trace of a trial, reports included.

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
    steps = 0
    for number, report in enumerate(reports if believe else (), start=1):
        if steps >= MAX_REPORTED_STEPS:
            problems.append(
                f"{len(reports) - number + 1} of {len(reports)} reports not read: "
                f"those before them hold {steps} steps"
            )
            break
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
            continue
        steps += len(told[-1].steps)
    merged = merge(team.redacted(observed), told, team_known=team.roster is not None)
    return Visible(trace=merged.trace, problems=(*problems, *merged.problems))
