"""Gathered: what the page needs of a run's conversations, read one trial at a time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from adk_agent.present.page.conversations import packed
from adk_agent.present.page.lookup import Lookup
from adk_agent.present.page.team_calls import TeamCalls, calls_between_agents
from adk_agent.results.summary import TrialKey
from adk_agent.runs.store import TrialRecord
from evals.base import Evaluation
from evals.trace import ASSESSOR

MOST_PACKED_CHARS = 14_000_000
"""The limit of all conversations together, which keeps a page below 20 MB."""
MOST_FAULTED_CHARS = 6_000_000
"""The part of it that may go to trials under injected faults."""
WEAK_SPOTS = ("bottleneck", "over_centralized")
"""Findings about single agents that the picture of a team marks."""
_GRAPH = "graph"


@dataclass(kw_only=True)
class Gathered:
    """The data of all trials whose record was found."""

    packed: dict[TrialKey, str] = field(default_factory=dict)
    """Conversations, as `packed` makes them."""
    left_out: int = 0
    """Conversations that were found and had no room."""
    teams: dict[tuple[str, str], TeamCalls] = field(default_factory=lambda: defaultdict(TeamCalls))
    """The calls of each participant and domain."""
    replies_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """The times in which each participant answered the assessor, without failures."""
    replies_failed: Counter[str] = field(default_factory=Counter)
    not_evaluated: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Evaluator, status and reason, by the number of trials."""
    trace_problems: Counter[str] = field(default_factory=Counter)


def gather(records: Iterable[TrialRecord], wanted: Iterable[TrialKey], lookup: Lookup) -> Gathered:
    """Collect what the page needs of the records whose keys are wanted."""
    found = Gathered()
    keys = set(wanted)
    room = _Room(found, lookup)
    for record in records:
        if record.key not in keys:
            continue
        room.pack(record)
        _see_calls(found, record)
        for each in record.evaluations:
            if each.status != "scored":
                found.not_evaluated[each.evaluator, each.status, each.reason or each.status] += 1
        found.trace_problems.update(record.trace_problems)
    return found


class _Room:
    """Keeps conversations while there is room; those that passed give way to those that did not."""

    def __init__(self, found: Gathered, lookup: Lookup) -> None:
        self._found = found
        self._lookup = lookup
        self._used = self._used_by_faults = 0
        self._passed: list[TrialKey] = []

    def pack(self, record: TrialRecord) -> None:
        text = self._packed(record)
        if record.row.passed:
            self._passed.append(record.key)
        else:
            self._make_room_for(len(text))
        if self._used + len(text) > MOST_PACKED_CHARS:
            self._found.left_out += 1
            return
        self._used += len(text)
        self._found.packed[record.key] = text

    def _packed(self, record: TrialRecord) -> str:
        writes = self._lookup.writes(record.row.domain, record.row.task_id)
        whole = packed(record, writes)
        if not record.chaos:
            return whole
        alone = packed(record, writes, with_faults=False)
        if self._used_by_faults + len(whole) - len(alone) > MOST_FAULTED_CHARS:
            return alone
        self._used_by_faults += len(whole) - len(alone)
        return whole

    def _make_room_for(self, chars: int) -> None:
        while self._used + chars > MOST_PACKED_CHARS and self._passed:
            given_up = self._found.packed.pop(self._passed.pop(), None)
            if given_up is not None:
                self._used -= len(given_up)
                self._found.left_out += 1


def _see_calls(found: Gathered, record: TrialRecord) -> None:
    participant = record.row.participant
    team = found.teams[participant, record.row.domain]
    team.trials += 1
    roster = record.roster or ()
    team.members.update(roster)
    for step, callee in calls_between_agents(record.trace, roster):
        team.add(step, callee)
        if step.caller != ASSESSOR:
            continue
        if step.error is not None:
            found.replies_failed[participant] += 1
        elif step.latency_ms is not None:
            found.replies_ms[participant].append(step.latency_ms)
    for evaluation in record.evaluations:
        if evaluation.evaluator == _GRAPH:
            team.weak_spots.update(_weak_spots(evaluation))


def _weak_spots(graph: Evaluation) -> set[tuple[str, str]]:
    findings = graph.details.get("findings")
    spots: set[tuple[str, str]] = set()
    for finding in findings if isinstance(findings, list) else []:
        if not isinstance(finding, dict) or finding.get("name") not in WEAK_SPOTS:
            continue
        agents = finding.get("agents")
        named = agents if isinstance(agents, list) else []
        spots.update((str(finding["name"]), str(agent)) for agent in named)
    return spots
