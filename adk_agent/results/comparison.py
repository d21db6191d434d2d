"""Comparison of two runs, task by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Literal

from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_controls
from adk_agent.results.provenance import differences, provenance, revisions_of
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import CEILING, FLOOR, Row, TaskKey
from adk_agent.results.trial_outcomes import outcomes_by_task
from evals.statistics import LEAST_TASKS, Comparison, compare

MOST_LISTED = 20
DRIFTED = ("graph", "latency")
"""Evaluators whose figures are shown side by side."""


_RUNS = ("in the first run", "in the second")
Verdict = Literal["worse", "better", "no difference", "undecided"]


class TaskMove(Row):
    """A task whose share of passed trials differs between the runs."""

    domain: str
    task_id: str
    first: float
    second: float


class MetricDrift(Row):
    """The mean of one figure over those trials of the common tasks that have a value."""

    evaluator: str
    metric: str
    first: float
    second: float
    first_trials: int
    second_trials: int


class AgentComparison(Row):
    """One participant of the first run beside one of the second.

    If trials failed, there are two readings: `comparison` counts the second run's failed trials as
    not passed and the first run's as passed, the worst case for the second; `best_case` does the
    opposite.
    """

    first_agent: str
    second_agent: str
    comparison: Comparison
    best_case: Comparison | None = None
    """None if no trial failed, because the two readings are then the same."""
    failed_trials: int = 0
    """Failed trials of both runs in the compared tasks."""
    gained: tuple[TaskMove, ...]
    lost: tuple[TaskMove, ...]
    only_first: int
    """Tasks with a score in the first run only."""
    only_second: int
    lost_scores: int
    """Tasks of `only_first` that were played in the second run too, without a score."""
    drift: tuple[MetricDrift, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict on the second run; undecided if the two readings disagree."""
        worst = _verdict_of(self.comparison)
        best = worst if self.best_case is None else _verdict_of(self.best_case)
        return worst if worst == best else "undecided"

    @property
    def is_regression(self) -> bool:
        """True if the second run is significantly worse in both readings."""
        return self.verdict == "worse"


class HeadlineComparison(Row):
    """One headline of a participant of the first run beside that of one of the second."""

    first_agent: str
    second_agent: str
    domain: str
    name: str
    higher_is_better: bool
    comparison: Comparison
    """Paired by task; failed trials count against the agent."""
    failed_trials: int = 0
    """Failed trials of both runs that the headline counts."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the second run; undecided if trials failed that may decide it."""
        if self.failed_trials:
            return "undecided"
        found = _verdict_of(self.comparison)
        if found == "no difference" or self.higher_is_better:
            return found
        return "better" if found == "worse" else "worse"

    @property
    def summary(self) -> str:
        """The verdict in a line, with the figures."""
        by = self.comparison
        return (
            f"{self.second_agent} in {self.domain}, {self.name}: {self.verdict}: {by.first:.3f} before, "
            f"{by.second:.3f} now, difference {by.difference:+.3f} (95 % interval "
            f"{by.interval.low:+.2f} to {by.interval.high:+.2f}), over {by.tasks} tasks, "
            f"p = {by.p_value:.4f}"
        )


class RunComparison(Row):
    """Two runs, with a row for each pair of participants that have tasks in common."""

    first_run: str
    second_run: str
    warnings: tuple[str, ...]
    agents: tuple[AgentComparison, ...]
    headlines: tuple[HeadlineComparison, ...] = ()
    """Comparisons of headlines that replace pass^k."""
    undecided: tuple[str, ...] = ()
    """The reasons why a gate cannot decide: agents and tasks of the first run without a score in
    the second."""


def compare_runs(
    first: EvaluationReport, second: EvaluationReport, *, other_data: bool = False
) -> RunComparison:
    """Compare a second run with a first, paired by task.

    Participants are matched by address, else by role. Two runs of one agent each are that agent
    before and after, whatever their addresses.

    Args:
        first: The run before.
        second: The run after.
        other_data: Compare even if the data revisions differ.

    Raises:
        RequestError: No participants match, no task was scored in both runs, or the data differ.
    """
    if first.run_id == second.run_id:
        raise RequestError(f"{first.run_id} is one run: name two to compare")
    data = _other_data(first, second)
    _refuse_other_scoring(first, second)
    if data and not other_data:
        raise RequestError(
            f"runs {first.run_id} and {second.run_id} used different data: {'; '.join(data)}. "
            "Their scores do not compare; --other-data compares them anyway"
        )
    pairs = _pairs(first, second)
    if not pairs:
        raise RequestError(
            f"no agent of run {first.run_id} ({', '.join(_agents(first))}) matches one in run "
            f"{second.run_id} ({', '.join(_agents(second))}), neither by address nor by role"
        )
    rows = {pair: _compared(first, pair[0], second, pair[1]) for pair in pairs}
    known = tuple(row for row in rows.values() if row is not None)
    figures = tuple(
        compared
        for pair in pairs
        for compared in _compared_headlines(first, pair[0], second, pair[1])
    )
    if not known and not figures:
        raise RequestError(
            f"runs {first.run_id} and {second.run_id} have no task in common that was scored in "
            "both, so nothing can be compared"
        )
    return RunComparison(
        first_run=first.run_id,
        second_run=second.run_id,
        warnings=(
            *data,
            *_caveats(first, second),
            *_other_makers(first, second, pairs),
            *_left_out(first, second, rows, figures),
        ),
        agents=known,
        headlines=figures,
        undecided=tuple(_undecided(first, rows, figures)),
    )


def _agents(report: EvaluationReport) -> list[str]:
    return [participant.address for participant in report.plan.participants]


def _pairs(first: EvaluationReport, second: EvaluationReport) -> list[tuple[str, str]]:
    """Pair the addresses that match, in the first run's order."""
    evaluated = [
        [p for p in report.plan.participants if p.address not in (FLOOR, CEILING)]
        or list(report.plan.participants)
        for report in (first, second)
    ]
    if all(len(each) == 1 for each in evaluated):
        return [(evaluated[0][0].address, evaluated[1][0].address)]
    same = set(_agents(first)) & set(_agents(second))
    by_role = {p.role: p.address for p in evaluated[1] if p.address not in same}
    pairs = []
    for participant in evaluated[0]:
        if participant.address in same:
            pairs.append((participant.address, participant.address))
        elif participant.role in by_role:
            pairs.append((participant.address, by_role[participant.role]))
    return pairs


def _compared(
    first: EvaluationReport, one: str, second: EvaluationReport, other: str
) -> AgentComparison | None:
    """Compare a participant of each run; None if no task has a score in both."""
    apart = {row.domain for row in (*first.summary, *second.summary) if row.by_headlines}
    earlier, later = (
        [t for t in report.trials if t.participant == agent and t.domain not in apart]
        for report, agent in ((first, one), (second, other))
    )
    before, after = (
        outcomes_by_task(earlier, failed_as=True),
        outcomes_by_task(later, failed_as=False),
    )
    found = compare(before, after)
    if found is None:
        return None
    common = {task: None for task in before if task in after}  # a set that keeps their order
    failed = sum(t.status == "failed" and t.task in common for t in (*earlier, *later))
    best_case = None
    if failed:
        best_case = compare(
            outcomes_by_task(earlier, failed_as=False), outcomes_by_task(later, failed_as=True)
        )
    moves = [
        TaskMove(domain=task[0], task_id=task[1], first=was, second=now)
        for task in common
        if (was := round(fmean(before[task]), 6)) != (now := round(fmean(after[task]), 6))
    ]
    played = {trial.task for trial in later}
    return AgentComparison(
        first_agent=one,
        second_agent=other,
        comparison=found,
        best_case=best_case,
        failed_trials=failed,
        gained=tuple(move for move in moves if move.second > move.first),
        lost=tuple(move for move in moves if move.second < move.first),
        only_first=len(before) - len(common),
        only_second=len(after) - len(common),
        lost_scores=sum(task in played and task not in after for task in before),
        drift=_drift(_figures(first, one, common), _figures(second, other, common)),
    )


def _compared_headlines(
    first: EvaluationReport, one: str, second: EvaluationReport, other: str
) -> list[HeadlineComparison]:
    """Compare the headlines that replace pass^k in both runs."""
    apart = {row.domain for row in first.summary if row.by_headlines}
    after = {(row.domain, row.name): row for row in second.headlines if row.participant == other}
    return [
        HeadlineComparison(
            first_agent=one,
            second_agent=other,
            domain=row.domain,
            name=row.name,
            higher_is_better=row.higher_is_better,
            comparison=found,
            failed_trials=row.failed + after[key].failed,
        )
        for row in first.headlines
        if row.participant == one and row.domain in apart
        for key in [(row.domain, row.name)]
        if key in after
        for found in [compare(*({t: [v] for t, v in r.by_task.items()} for r in (row, after[key])))]
        if found is not None
    ]


def _figures(
    report: EvaluationReport, agent: str, tasks: Collection[TaskKey]
) -> dict[tuple[str, str], list[float]]:
    """Gather the values of each figure over the trials of some tasks."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for item in report.evaluations:
        if item.participant != agent or (item.domain, item.task_id) not in tasks:
            continue
        for result in item.results:
            if result.evaluator in DRIFTED and result.status == "scored":
                for metric, value in result.values.items():
                    values[result.evaluator, metric].append(value)
    return values


def _drift(
    first: Mapping[tuple[str, str], Sequence[float]],
    second: Mapping[tuple[str, str], Sequence[float]],
) -> tuple[MetricDrift, ...]:
    return tuple(
        MetricDrift(
            evaluator=figure[0],
            metric=figure[1],
            first=round(fmean(first[figure]), 6),
            second=round(fmean(second[figure]), 6),
            first_trials=len(first[figure]),
            second_trials=len(second[figure]),
        )
        for figure in sorted(first.keys() & second.keys())
    )


def _other_data(first: EvaluationReport, second: EvaluationReport) -> list[str]:
    """List the domains of both runs whose data differ."""
    before, after = (
        revisions_of({row.domain: row.data for row in report.summary}) for report in (first, second)
    )
    common = before.keys() & after.keys()
    return differences(
        *(provenance({}, {domain: each[domain] for domain in common}) for each in (before, after)),
        when=_RUNS,
    )


def _caveats(first: EvaluationReport, second: EvaluationReport) -> list[str]:
    """List causes other than agent and data that may explain a difference of the scores."""
    settings = [
        {name: getattr(report.plan, name) for name in ("seed", "max_steps")}
        for report in (first, second)
    ]
    return [
        *differences(*(provenance(each.versions, {}) for each in (first, second)), when=_RUNS),
        *differences(*settings, when=_RUNS),
        *[
            f"run {report.run_id} is {report.status}"
            for report in (first, second)
            if report.status != "complete"
        ],
        *[
            f"run {report.run_id} was stopped early by a rule: its score chose the moment, so the "
            "test does not hold as it says"
            for report in (first, second)
            if report.stopped_by is not None
        ],
    ]


def _refuse_other_scoring(first: EvaluationReport, second: EvaluationReport) -> None:
    for name in ("evaluation_type", "solo"):
        before, after = getattr(first.plan, name), getattr(second.plan, name)
        if before != after:
            raise RequestError(
                f"run {first.run_id} was played with {name} {before!r}, run {second.run_id} with "
                f"{after!r}: these scores do not compare"
            )


def _other_makers(
    first: EvaluationReport, second: EvaluationReport, pairs: Sequence[tuple[str, str]]
) -> list[str]:
    """List pairs whose simulated users or whose sources of rewards differ."""
    found = []
    for pair in pairs:
        users, makers = zip(
            *(_makers(report, agent) for report, agent in zip((first, second), pair, strict=True)),
            strict=True,
        )
        for what, (before, after) in (("user", users), ("rewards made by", makers)):
            if before and after and before != after:
                found.append(
                    f"{what}: {', '.join(sorted(before))} for {pair[0]} in the first run, "
                    f"{', '.join(sorted(after))} for {pair[1]} in the second"
                )
    return found


def _makers(report: EvaluationReport, agent: str) -> tuple[set[str], set[str]]:
    scored = [t for t in report.trials if t.participant == agent and t.status == "scored"]
    return {t.user for t in scored}, {t.produced_by for t in scored if t.produced_by is not None}


def _undecided(
    first: EvaluationReport,
    rows: Mapping[tuple[str, str], AgentComparison | None],
    figures: Sequence[HeadlineComparison],
) -> list[str]:
    counterparts = {one for one, _ in rows}
    missing = [
        f"{agent} is in the first run alone"
        for agent in _agents(first)
        if agent not in counterparts and agent not in (FLOOR, CEILING)
    ]
    compared = {(each.first_agent, each.second_agent) for each in figures}
    missing += [
        f"{pair[1]} has no task in common"
        for pair, row in rows.items()
        if row is None and pair not in compared
    ]
    missing += [
        f"{row.second_agent} has {row.failed_trials} failed trials that decide the verdict"
        for row in rows.values()
        if row is not None and row.verdict == "undecided"
    ]
    missing += [
        f"{each.second_agent} has {each.failed_trials} failed trials that may decide {each.name}"
        for each in figures
        if each.verdict == "undecided"
    ]
    return missing + [
        f"{row.second_agent} lacks {row.only_first} of {row.only_first + row.comparison.tasks} tasks"
        for row in rows.values()
        if row is not None and row.only_first
    ]


def _left_out(
    first: EvaluationReport,
    second: EvaluationReport,
    rows: Mapping[tuple[str, str], AgentComparison | None],
    figures: Sequence[HeadlineComparison],
) -> list[str]:
    compared_apart = {(each.first_agent, each.second_agent) for each in figures}
    found = [
        f"{other} is not compared: it has no scored task in common with {one} of the first run"
        for (one, other), row in rows.items()
        if row is None and (one, other) not in compared_apart
    ]
    for report, place in ((first, 0), (second, 1)):
        compared = {pair[place] for pair in rows}
        found += [
            f"{agent} of run {report.run_id} has no counterpart and is not compared"
            for agent in _agents(report)
            if agent not in compared and agent not in (FLOOR, CEILING)
        ]
    return found


def summary(found: RunComparison) -> str:
    """Return a comparison as lines of text."""
    lines = [f"Run {found.second_run} against run {found.first_run}"]
    lines += [f"warning: {warning}" for warning in found.warnings]
    for row in found.agents:
        lines += ["", *_agent_lines(row)]
    lines += ["", *(each.summary for each in found.headlines)] if found.headlines else []
    return escape_controls("\n".join(lines)) + "\n"


def _agent_lines(row: AgentComparison) -> list[str]:
    by = row.comparison
    name = row.second_agent
    if row.first_agent != row.second_agent:
        name = f"{row.second_agent} (before: {row.first_agent})"
    lines = [
        f"{name}: {_verdict_line(row)}",
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
    return f"{metric.removesuffix('_ms')}: {shown}" if named else shown


def _verdict_of(found: Comparison) -> Verdict:
    if not found.is_significant:
        return "no difference"
    return "worse" if found.difference < 0 else "better"


def _verdict_line(row: AgentComparison) -> str:
    if row.verdict == "no difference":
        return f"no significant difference (p = {row.comparison.p_value:.2g})"
    if row.verdict != "undecided" or row.best_case is None:
        return row.verdict
    return (
        f"undecided: {row.failed_trials} failed trials decide. Counted against it, "
        f"{_verdict_of(row.comparison)} ({row.comparison.difference:+.3f}); counted for it, "
        f"{_verdict_of(row.best_case)} ({row.best_case.difference:+.3f})"
    )


def _power_lines(by: Comparison) -> list[str]:
    lines = []
    if by.smallest_difference is None and by.tasks < LEAST_TASKS:
        lines.append(f"  {by.tasks} tasks are too few to say what they would show")
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
