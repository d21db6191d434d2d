"""A comparison of two runs as lines of text."""

from __future__ import annotations

from collections.abc import Sequence

from adk_agent.core.escaping import escape_controls
from adk_agent.results.comparison import (
    AgentComparison,
    HeadlineComparison,
    PairedComparison,
    RunComparison,
    TaskMove,
    verdict_of,
)
from evals.statistics import LEAST_TASKS, Comparison

MOST_LISTED = 20


def summary(found: RunComparison) -> str:
    """Return a comparison as lines of text."""
    lines = [f"Run {found.second_run} against run {found.first_run}"]
    lines += [f"warning: {warning}" for warning in found.warnings]
    for row in found.agents:
        lines += ["", *_agent_lines(row)]
    lines += ["", *map(headline_line, found.headlines)] if found.headlines else []
    return escape_controls("\n".join(lines)) + "\n"


def headline_line(row: HeadlineComparison) -> str:
    """Say how a headline of the second run stands against the first."""
    by = row.comparison
    apart = row.only_first + row.only_second
    otherwise = (
        ""
        if row.best_case is None
        else f", with failed trials counted the other way {row.best_case.difference:+.3f}"
    )
    return (
        f"{name_of(row)} in {row.domain}, {row.name}: {row.verdict}: {by.first:.3f} before, "
        f"{by.second:.3f} now, difference {by.difference:+.3f} (95 % interval "
        f"{by.interval.low:+.2f} to {by.interval.high:+.2f}){otherwise}, over {by.tasks} tasks, "
        f"p = {by.p_value:.4f}{f'; not compared: {apart} tasks' if apart else ''}"
    )


def name_of(row: PairedComparison) -> str:
    """Return the address of the second agent, and of the first if it is another."""
    if row.first_agent == row.second_agent:
        return row.second_agent
    return f"{row.second_agent} (before: {row.first_agent})"


def _agent_lines(row: AgentComparison) -> list[str]:
    by = row.comparison
    where = f" in {' and '.join(row.domains)}" if row.domains else ""
    lines = [
        f"{name_of(row)}{where}: {verdict_line(row)}",
        f"  pass^1: {by.first:.3f} before, {by.second:.3f} now, difference {by.difference:+.3f} "
        f"(95 % interval {by.interval.low:+.2f} to {by.interval.high:+.2f}), over {by.tasks} tasks",
        f"  sign-flip permutation test over tasks: p = {by.p_value:.4f}"
        f"{' (exact)' if by.exact else ''}",
        *_power_lines(by),
        *_moves("gained", row.gained),
        *_moves("lost", row.lost),
    ]
    if row.only_first or row.only_second:
        lines.append(
            f"  not compared: {row.only_first} tasks scored in the first run alone, "
            f"{row.only_second} in the second alone"
        )
    if row.lost_scores:
        lines.append(
            f"  {row.lost_scores} of the former were played again and have no score now: no "
            "verdict holds for them"
        )
    lines += [
        f"  {each.evaluator} {_figure(each.metric, each.first)} before, "
        f"{_figure(each.metric, each.second, named=False)} now"
        for each in row.drift
        if each.first != each.second
    ]
    return lines


def _figure(metric: str, value: float, *, named: bool = True) -> str:
    shown = f"{value:.1f} ms" if metric.endswith("_ms") else f"{value:g}"
    if metric == "tokens":
        shown = f"{value:,.0f}"
    return f"{metric.removesuffix('_ms')}: {shown}" if named else shown


def verdict_line(row: AgentComparison) -> str:
    """Return the verdict on the second run; if failed trials decide it, both readings."""
    if row.verdict == "no difference":
        return f"no significant difference (p = {row.comparison.p_value:.2g})"
    if row.verdict != "undecided" or row.best_case is None:
        return row.verdict
    return (
        f"undecided: {row.failed_trials} failed trials decide. Counted against it, "
        f"{verdict_of(row.comparison)} ({row.comparison.difference:+.3f}); counted for it, "
        f"{verdict_of(row.best_case)} ({row.best_case.difference:+.3f})"
    )


def _power_lines(by: Comparison) -> list[str]:
    lines = []
    if by.smallest_difference is None and by.tasks < LEAST_TASKS:
        lines.append(
            f"  {by.tasks} tasks are too few to say how small a difference they could show"
        )
    elif by.smallest_difference is None:
        lines.append(
            "  the difference that these tasks would show is unknown: their differences vary too little or too much"
        )
    else:
        lines.append(
            f"  this many tasks and trials show a difference of {by.smallest_difference:.3f} or "
            "more in 80 % of cases"
        )
    if not by.is_significant and by.tasks_needed is not None:
        trials = (
            f"{by.trials_needed} trials of each task, or "
            if by.trials_needed is not None
            else "no number of trials of these tasks, but "
        )
        lines.append(f"  to show the difference that was seen: {trials}{by.tasks_needed} tasks")
    return lines


def _moves(what: str, moves: Sequence[TaskMove]) -> list[str]:
    if not moves:
        return []
    named = [
        f"{move.domain}/{move.task_id} ({move.first:g} to {move.second:g})"
        for move in moves[:MOST_LISTED]
    ]
    more = f" and {len(moves) - MOST_LISTED} more" if len(moves) > MOST_LISTED else ""
    return [f"  {what}: {len(moves)} tasks: {', '.join(named)}{more}"]
