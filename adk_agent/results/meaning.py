"""Meaning of a run's scores, in one line per agent."""

from __future__ import annotations

from collections.abc import Sequence

from adk_agent.core.escaping import one_line
from adk_agent.results.headlines import HeadlineRow
from adk_agent.results.report import EvaluationReport, failed_reasons
from adk_agent.results.summary import (
    CEILING,
    FLOOR,
    NOT_EVALUATED,
    OverallRow,
    ScoreRow,
    SummaryRow,
    TaskRow,
    TrialRow,
    by_frequency,
    pass_1_beside,
)
from adk_agent.results.tables import number, score_range

MOST_REASON_CHARS = 156


def meaning_lines(report: EvaluationReport) -> list[str]:
    """Say what each agent's score means, in one line per agent."""
    lines = []
    rows = gated_rows(report)
    agents = [row.participant for row in rows]
    for row in rows:
        domains = (row.domain,) if isinstance(row, SummaryRow) else row.domains
        trials = [
            trial
            for trial in report.trials
            if trial.participant == row.participant and trial.domain in domains
        ]
        tasks = [task for task in report.tasks if task.domain in domains]
        where = f" on {' and '.join(domains)}" if agents.count(row.participant) > 1 else ""
        if isinstance(row, SummaryRow) and row.by_headlines:
            lines += [
                f"{row.participant} in {row.domain}: {figures}" for figures in _figures(report, row)
            ]
        elif trials:
            lines.append(f"{row.participant}{where}: {'; '.join(_meaning(row, trials, tasks))}")
    return lines


def gated_rows(report: EvaluationReport) -> Sequence[OverallRow | SummaryRow]:
    """Return the rows that must reach the bound: for each agent one over all domains.

    It has one for each benchmark if there are several, and one for each domain whose headlines
    replace pass^k. The floor and ceiling agents are left out if
    there are others.
    """
    together = {domain for row in report.overall for domain in row.domains}
    rows: list[OverallRow | SummaryRow] = [*report.overall]
    rows += [row for row in report.summary if row.domain not in together]
    agents = [row for row in rows if row.participant not in (FLOOR, CEILING)]
    return agents or rows


def figures_of(report: EvaluationReport, row: ScoreRow) -> list[HeadlineRow]:
    """Return the headlines of a row's participant and domain that have a value."""
    return [
        each
        for each in report.headlines
        if isinstance(row, SummaryRow)
        and (each.participant, each.domain) == (row.participant, row.domain)
        and each.ends is not None
    ]


def headline_lines(report: EvaluationReport, participant: str) -> list[str]:
    """Return a sentence for each domain of a participant whose headlines replace pass^k."""
    return [
        f"In {row.domain}: {figures}."
        for row in report.summary
        if row.participant == participant and row.by_headlines
        for figures in _figures(report, row)
    ]


def _figures(report: EvaluationReport, row: SummaryRow) -> list[str]:
    """Name all headlines of a row in one line, so that none stands alone; none without trials."""
    if not row.trials:
        return []
    found = figures_of(report, row)
    told = [
        f"{each.name} {score_range(*each.ends)}{_beside(each)}"
        for each in found
        if each.ends is not None
    ]
    return [", ".join(told) or "no trial has a score"]


def _beside(row: HeadlineRow) -> str:
    """Tell how sure a headline is, its direction, and what doing nothing comes to."""
    facts = [] if row.higher_is_better else ["lower is better"]
    if row.interval is not None:
        facts.append(f"95 % interval {row.interval.low:.2f} to {row.interval.high:.2f}")
    if row.floor is not None:
        facts.append(f"doing nothing {number(row.floor)}")
    return f" ({'; '.join(facts)})" if facts else ""


def _meaning(row: ScoreRow, trials: Sequence[TrialRow], tasks: Sequence[TaskRow]) -> list[str]:
    score = row.pass_hat_k.get("1")
    if score is None:
        reason = next(iter(failed_reasons(trials)), "no trial has a score")
        return [f"not evaluated: {one_line(reason.removeprefix(NOT_EVALUATED), MOST_REASON_CHARS)}"]
    parts = [_beside_floor(row, score, trials, tasks)]
    if row.agent_errors:
        reason = next(iter(by_frequency(t.reason or "" for t in trials if t.fault == "agent")))
        ended = f"{row.agent_errors} of {row.trials} trials ended by an error of the agent"
        parts.append(f"{ended}: {one_line(reason, MOST_REASON_CHARS)}")
    if row.failed:
        ends = f"{number(score)} to {number(row.high('1'))}"
        parts.append(
            f"1 failed trial leaves its score open, {ends}"
            if row.failed == 1
            else f"{row.failed} failed trials leave its score open, {ends}"
        )
    return parts


def _beside_floor(
    row: ScoreRow, score: float, trials: Sequence[TrialRow], tasks: Sequence[TaskRow]
) -> str:
    """Say whether the score is better than doing nothing, with the figures.

    Where only some tasks have a floor, the score on these is compared.
    """
    floor, gained, within = row.floor, row.above_floor, row.above_floor_interval
    if floor is None or floor.pass_1 is None or gained is None or within is None:
        return f"pass^1 {number(score)}; no floor is known"
    beside, high, where = number(score), row.high("1"), ""
    if floor.missing:
        low, high = pass_1_beside("floor", trials, tasks)
        which = "1 task" if floor.tasks == 1 else f"{floor.tasks} tasks"
        beside, where = number(low), f"pass^1 {beside}; on the {which} with a floor, "
    if row.participant == FLOOR:
        return f"{where}this agent does nothing, so its pass^1, {beside}, is the floor"
    nothing = f"an agent that does nothing (pass^1 {beside}, floor {number(floor.pass_1)})"
    if gained <= 0 and (high is None or high <= floor.pass_1):
        return f"{where}not better than {nothing}"
    if row.failed and gained <= 0:
        return f"{where}perhaps not better than {nothing}"
    if within.low <= 0:
        few = "1 task is" if floor.tasks == 1 else f"{floor.tasks} tasks are"
        return f"{where}perhaps better than {nothing}, but {few} too few to say"
    return f"{where}better than {nothing}"
