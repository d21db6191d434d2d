"""Failures and gaps: why trials did not pass, and what could not be measured."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from adk_agent.core.spending import ender
from adk_agent.present.page import texts
from adk_agent.present.page.gathered import Gathered
from adk_agent.present.page.words import CLASSES, UNDIAGNOSED
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import TrialRow

MOST_LINKS = 24
"""Trials that are named in one row; all of them stand in the list of trials."""
MOST_REASONS = 100


@dataclass(frozen=True, kw_only=True)
class FailureClass:
    """A class of failures: how often it occurs, its share of the largest class, and its trials."""

    name: str
    meaning: str
    by_participant: tuple[int, ...]
    total: int
    width: float
    """In percent of the largest class."""
    trials: tuple[int, ...]
    more: int


@dataclass(frozen=True, kw_only=True)
class Gap:
    """Something that has no figure, and why."""

    what: str
    reason: str
    times: int
    trials: tuple[int, ...] = ()
    more: int = 0


def failure_classes(report: EvaluationReport) -> tuple[FailureClass, ...]:
    """Return the classes of all trials that did not pass, the largest first."""
    found: dict[str, list[int]] = defaultdict(list)
    for number, row in enumerate(report.trials):
        if row.diagnosis is not None:
            found[row.diagnosis.kind].append(number)
        elif row.status == "scored" and not row.passed:
            found[UNDIAGNOSED].append(number)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), list(CLASSES).index(item[0])))
    most = len(ordered[0][1]) if ordered else 0
    names = [participant.address for participant in report.plan.participants]
    return tuple(_class(kind, numbers, most, names, report.trials) for kind, numbers in ordered)


def _class(
    kind: str, numbers: Sequence[int], most: int, names: Sequence[str], rows: Sequence[TrialRow]
) -> FailureClass:
    by = Counter(rows[number].participant for number in numbers)
    name, meaning = CLASSES[kind]
    return FailureClass(
        name=name,
        meaning=meaning,
        by_participant=tuple(by[each] for each in names),
        total=len(numbers),
        width=round(100 * len(numbers) / most, 2),
        trials=tuple(numbers[:MOST_LINKS]),
        more=max(0, len(numbers) - MOST_LINKS),
    )


def trials_without_score(report: EvaluationReport) -> tuple[Gap, ...]:
    """Reasons for missing rewards, the most frequent first, then what was not played."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, row in enumerate(report.trials):
        if row.status != "scored":
            found[row.status, row.reason or "no reason is known"].append(number)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    gaps = [
        Gap(
            what=status,
            reason=reason,
            times=len(numbers),
            trials=tuple(numbers[:MOST_LINKS]),
            more=max(0, len(numbers) - MOST_LINKS),
        )
        for (status, reason), numbers in ordered[:MOST_REASONS]
    ]
    missing = report.plan.total_trials - len(report.trials)
    if missing > 0:
        rule = report.stopped_by
        why = f"the run is {report.status}" if rule is None else f"{ender(rule)} ended the run"
        gaps.append(Gap(what="not played", reason=why, times=missing))
    return tuple(gaps)


def evaluators_without_result(found: Gathered) -> tuple[Gap, ...]:
    """Return the evaluators that said nothing about some trials, and why."""
    ordered = sorted(found.not_evaluated.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        Gap(what=f"{evaluator}: {status}", reason=reason, times=times)
        for (evaluator, status, reason), times in ordered[:MOST_REASONS]
    )


def not_shown(report: EvaluationReport, found: Gathered) -> tuple[str, ...]:
    """Return what this page leaves out, in sentences."""
    said = []
    if found.left_out:
        conversations = texts.count(found.left_out, "conversation")
        said.append(f"{conversations} had no room in this page; trials.jsonl has them.")
    lacking = len(report.trials) - len(found.packed) - found.left_out
    if lacking > 0:
        said.append(
            f"Of {texts.count(lacking, 'trial')} no conversation was kept beside the report."
        )
    problems = sorted(found.trace_problems.items(), key=lambda item: (-item[1], item[0]))
    said += [
        f"{texts.count(times, 'time')} a trace could not be used as it came: {reason}"
        for reason, times in problems[:MOST_REASONS]
    ]
    return tuple(said)
