"""Robustness: trials under injected faults beside the same trials played plain, and consistency."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from adk_agent.results.summary import Row, TaskKey, TrialKey, TrialRow, rounded
from evals.statistics import Comparison, compare
from tau_bridge.chaos.injector import InjectedFault
from tau_bridge.chaos.profiles import FAMILIES, Family


class FaultedTrial(Row):
    """A trial played once more under the faults of one family."""

    family: Family
    row: TrialRow
    faults: tuple[InjectedFault, ...]
    repeated_writes: int | None
    """Writes that ran more often than in the plain trial; None where calls are not known."""
    blind_writes: int | None
    """Writes repeated after a result that is unknown, with no look in between."""


class RobustnessRow(Row):
    """An agent in a domain under the faults of one family.

    Only pairs count in which the plain trial and the one under faults both have a score, and a
    fault happened.
    """

    participant: str
    domain: str
    family: Family
    pairs: int
    faults: dict[str, int]
    """The faults of these trials, by kind."""
    untouched: int
    """Trials in which no fault happened to be drawn."""
    without_score: int
    """Pairs of which one trial has no score."""
    comparison: Comparison | None
    """First plain, second under faults; None without a pair."""
    repeated_writes: int | None
    blind_writes: int | None
    refused_duplicates: int = 0
    """Messages whose second delivery the agent answered with an error, which no score shows."""
    by_heart: int = 0
    """Trials in which the agent named an id of the data that nobody had told it."""
    reason: str | None
    """The reason why there is no comparison."""
    injectable: bool = True
    """False if none of these faults can be injected into this agent's trials."""


class ReliabilityRow(Row):
    """The consistency of an agent's plain trials of a task, each from 0 to 1; None with a reason."""

    participant: str
    domain: str
    consistency: dict[str, float | None]
    reasons: dict[str, str]


def robustness_row(
    participant: str,
    domain: str,
    family: Family,
    plain: Mapping[TrialKey, TrialRow],
    faulted: Sequence[FaultedTrial],
) -> RobustnessRow:
    """Compare the trials of one agent, domain and family with the plain ones.

    Args:
        participant: The agent.
        domain: The domain.
        family: The family of faults.
        plain: The plain trials that ended, of this agent and domain.
        faulted: Those under this family, of this agent and domain.
    """
    before: dict[TaskKey, list[float]] = defaultdict(list)
    after: dict[TaskKey, list[float]] = defaultdict(list)
    hit = [each for each in faulted if each.faults]
    scored = [
        each
        for each in hit
        if each.row.status == "scored" and plain[each.row.key].status == "scored"
    ]
    for each in scored:
        before[each.row.task].append(float(plain[each.row.key].passed))
        after[each.row.task].append(float(each.row.passed))
    found = compare(before, after)
    played = any(row.status == "scored" for row in plain.values())
    reason = None
    if found is None:
        reason = _reason(plain, faulted, hit, family)
    return RobustnessRow(
        participant=participant,
        domain=domain,
        family=family,
        pairs=len(scored),
        faults=dict(sorted(Counter(f.kind for each in scored for f in each.faults).items())),
        untouched=len(faulted) - len(hit),
        without_score=len(hit) - len(scored) + len(plain) - len(faulted),
        comparison=found,
        repeated_writes=_sum([each.repeated_writes for each in hit]),
        blind_writes=_sum([each.blind_writes for each in hit]),
        refused_duplicates=sum(
            fault.is_error for each in hit for fault in each.faults if fault.kind == "duplicate"
        ),
        by_heart=sum(any(fault.by_heart for fault in each.faults) for each in hit),
        reason=reason,
        injectable=bool(faulted) or not played,
    )


def resource_consistency(rows: Sequence[TrialRow]) -> float | None:
    """Return the mean over tasks of least / most work of a trial, 0 to 1; None without two trials.

    The work is the agent's replies and its calls of tools together.
    """
    work: dict[TaskKey, list[int]] = defaultdict(list)
    for row in rows:
        if row.reward is not None:
            work[row.task].append(row.turns + row.tool_calls)
    shares = [
        min(each) / max(each) if max(each) else 1.0 for each in work.values() if len(each) > 1
    ]
    return rounded(sum(shares) / len(shares)) if shares else None


def _reason(
    plain: Mapping[TrialKey, TrialRow],
    faulted: Sequence[FaultedTrial],
    hit: Sequence[FaultedTrial],
    family: Family,
) -> str:
    if not plain:
        return "no trial ended"
    if not faulted:
        if any(row.status == "scored" for row in plain.values()):
            if family == "members":
                return "no calls between members of a team are observed here"
            return f"the benchmark cannot inject {', '.join(FAMILIES[family])} here"
        return "no plain trial has a score"
    if not hit:
        return "no fault was drawn; raise the rates or play more trials"
    return "no pair of trials has two scores"


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None
