"""AgentBeats: the record from which leaderboards read their rows."""

from __future__ import annotations

import json

from adk_agent.core.plan import Participant
from adk_agent.present.exports.output import Export, Output, names_of
from adk_agent.present.exports.played import PlayedRun
from adk_agent.results.leaderboard import leaderboard_rows

ROLE = "agent"
"""The role that the leaderboard's queries read, whatever the run's own name for it."""


def to_agentbeats(run: PlayedRun) -> Export:
    """Export one file for each participant: its address, and its row of each benchmark.

    Rows of one record belong to one submission, so participants never share a record.
    """
    participants = run.report.plan.participants
    names = names_of("agentbeats", ".json", [each.address for each in participants])
    return Export(
        outputs=tuple(
            Output(name=name, chunks=(_record(run, participant),))
            for name, participant in zip(names, participants, strict=True)
        )
    )


def _record(run: PlayedRun, participant: Participant) -> str:
    plan = run.report.plan.model_copy(update={"participants": (participant,)})
    results = leaderboard_rows(run.report.model_copy(update={"plan": plan}))
    record = {"participants": {ROLE: participant.address}, "results": results}
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"
