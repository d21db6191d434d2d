"""Trials: the list of all of them, each a row that leads to its timeline and its conversation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from adk_agent.present.page import texts
from adk_agent.present.page.words import CLASSES, MARKS, Mark, state_of
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import TrialKey, TrialRow
from adk_agent.results.tables import counted
from adk_agent.results.users import KIND_WORDS

MOST_OPEN = 40
"""Trials up to which the lists are open from the beginning."""
_MOST_WHY = 220


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A trial in the list."""

    number: int
    row: TrialRow
    mark: Mark
    why: str
    time: str
    repairs: str
    """The repairs of its replies, by kind; empty where there were none."""
    kept: bool
    """True if the page has its conversation."""


@dataclass(frozen=True, kw_only=True)
class TrialList:
    """The trials of one participant in one domain."""

    participant: str
    domain: str
    title: str
    rows: tuple[Listed, ...]
    is_open: bool


def trial_lists(report: EvaluationReport, kept: Collection[TrialKey]) -> tuple[TrialList, ...]:
    """All trials that ended, grouped in the order of the report."""
    grouped: dict[tuple[str, str], list[Listed]] = defaultdict(list)
    leaking = {key for row in report.isolation for key in row.trials_with_leaks}
    lost_under: dict[TrialKey, list[str]] = defaultdict(list)
    for play in report.faulted:
        if play.row.status == "scored" and not play.row.passed:
            lost_under[play.row.key].append(play.family)
    for number, row in enumerate(report.trials):
        key = row.key
        grouped[row.participant, row.domain].append(
            Listed(
                number=number,
                row=row,
                mark=MARKS[state_of(row)],
                why=texts.short(
                    _why(row, leaks=key in leaking, lost_under=lost_under.get(key, ())), _MOST_WHY
                ),
                time=texts.duration(row.duration_ms),
                repairs=counted(row.repair_kinds),
                kept=key in kept,
            )
        )
    few = len(report.trials) <= MOST_OPEN
    return tuple(
        TrialList(
            participant=participant,
            domain=domain,
            title=f"{participant} in {domain}: {texts.count(len(rows), 'trial')}, "
            f"{sum(each.row.passed for each in rows)} passed",
            rows=tuple(rows),
            is_open=few,
        )
        for (participant, domain), rows in grouped.items()
    )


def _why(row: TrialRow, *, leaks: bool, lost_under: Sequence[str]) -> str:
    told = ["told what belongs to another conversation"] if leaks else []
    if row.passed and lost_under:
        told.append(f"passed plain, and not under {texts.listed(list(lost_under))}")
    if row.user_check is not None:
        kinds = dict.fromkeys(each.kind for each in row.user_check.proven)
        told += [f"the user {KIND_WORDS[kind]}" for kind in kinds]
    return "; ".join(filter(None, [*told, why(row)]))


def why(row: TrialRow) -> str:
    """Explain why a trial did not pass, or has no score; empty where it passed."""
    if row.diagnosis is not None:
        return f"{CLASSES[row.diagnosis.kind][0]}: {row.diagnosis.summary}"
    if row.status != "scored":
        return row.reason or "no reason is known"
    if row.passed:
        return ""
    lost = [
        name for name, value in row.reward_breakdown.items() if value == 0 and name in row.basis
    ]
    return f"at 0: {', '.join(lost)}" if lost else ""
