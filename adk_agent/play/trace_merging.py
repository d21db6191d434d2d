"""merged_trace: one trace of what the assessor saw and of what the participants reported."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from adk_agent.play.team_access import TeamAccess
from evals.trace import Trace
from tau_bridge.a2a.conversation import Conversation, Report
from tau_bridge.a2a.traceability import read_response_trace
from tau_bridge.errors import BridgeError
from tau_bridge.otlp.inbox import TrialSpans
from tau_bridge.otlp.reports import SpanReport, reports_of_spans
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
    spans: TrialSpans | None = None,
) -> Merged:
    """Return the trace of a trial whose conversation has ended, reports included.

    Where the team's members are known, the assessor's own calls come from outside of it, also when
    no member called another one.

    Args:
        recorder: Has what the assessor and its proxy saw.
        conversation: Has the reports that came back with the replies.
        team: Whose names and addresses they use.
        trust_reports: Whether reports are used at all.
        spans: What the agents sent over OTLP: a report too, unless others came with the replies.
    """
    # What participants report can be long: reading it must not hold up the other trials.
    return await asyncio.to_thread(
        _merged, recorder.trace(), conversation, team, trust_reports, spans
    )


def _of_spans(
    observed: Trace, conversation: Conversation, team: TeamAccess, received: TrialSpans | None
) -> tuple[list[SpanReport], list[str]]:
    """Return the reports that spans make, and what of the spans could not be used.

    An agent that reports its calls with its replies as well would have them counted twice, for
    nothing says which of both is which.
    """
    if received is None:
        return [], []
    left_out = f"{received.left_out} spans not kept: too many or too long for one trial"
    told = [left_out] if received.left_out else []
    spans = list(received.spans.values())
    if spans and conversation.reports:
        return [], [*told, f"{len(spans)} spans not used: the replies report the calls already"]
    reports, problems = reports_of_spans(
        spans, observed, agent=team.name, members=team.roster or ()
    )
    return reports, told + problems


def _merged(
    observed: Trace,
    conversation: Conversation,
    team: TeamAccess,
    trust_reports: bool,
    spans: TrialSpans | None,
) -> Merged:
    found, problems = _of_spans(observed, conversation, team, spans if trust_reports else None)
    reported = []
    steps = 0
    reports: Sequence[Report | SpanReport] = (
        (found or conversation.reports) if trust_reports else ()
    )
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
