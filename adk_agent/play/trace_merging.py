"""merged_trace: one trace of what the assessor saw and of what the participants reported."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from adk_agent.play.team_access import TeamAccess
from evals.trace import Trace
from tau_bridge.a2a.messenger import Conversation
from tau_bridge.a2a.traceability import read_response_trace
from tau_bridge.errors import BridgeError
from tau_bridge.recorder import TraceRecorder
from tau_bridge.trace_merging import Merged, merge

MAX_REPORTED_STEPS = 20_000
"""Steps of all reports of one conversation that are read; an agent may send one with each reply."""


async def merged_trace(
    recorder: TraceRecorder,
    conversation: Conversation,
    team: TeamAccess,
    *,
    trust_reports: bool = True,
) -> Merged:
    """Return the trace of a trial whose conversation has ended, reports included.

    Where the team's members are known, the assessor's own calls come from outside of it, also when
    no member called another one.

    Args:
        recorder: Has what the assessor and its proxy saw.
        conversation: Has the reports that came back with the replies.
        team: Whose names and addresses they use.
        trust_reports: Whether reports are used at all.
    """
    # What participants report can be long: reading it must not hold up the other trials.
    return await asyncio.to_thread(_merged, recorder.trace(), conversation, team, trust_reports)


def _merged(
    observed: Trace, conversation: Conversation, team: TeamAccess, trust_reports: bool
) -> Merged:
    problems: list[str] = []
    reported = []
    steps = 0
    reports = conversation.reports if trust_reports else ()
    for number, report in enumerate(reports):
        if steps >= MAX_REPORTED_STEPS:
            problems.append(
                f"{len(reports) - number} of {len(reports)} reports not read: "
                f"those before them hold {steps} steps"
            )
            break
        try:
            trace = read_response_trace(
                report.value,
                reporter=team.name,
                aliases=team.aliases,
                inside=report.step_id,
                redact=team.redact,
            )
        except BridgeError as error:
            problems.append(team.redact(str(error)))
        else:
            reported.append(trace)
            steps += len(trace.steps)
    merged = merge(team.redacted(observed), reported, team_known=team.roster is not None)
    problems += merged.problems
    if conversation.reports_left_out:
        problems.append(
            f"{conversation.reports_left_out} reports not kept: too many or too long for one "
            "conversation"
        )
    return replace(merged, problems=tuple(problems))
