"""Comparison of two runs, task by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import Literal

from adk_agent.core.errors import RequestError
from adk_agent.core.spending import is_budget
from adk_agent.results.headlines import headline_readings
from adk_agent.results.other_users import other_users
from adk_agent.results.provenance import differences, provenance, revisions_of
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import CEILING, FLOOR, Row, TaskKey
from adk_agent.results.trial_outcomes import outcomes_by_task
from evals.statistics import Comparison, compare

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


REPORTED = "reported"
"""In place of an evaluator for the tokens and the cost of a trial that agents report."""


class MetricDrift(Row):
    """The mean of one figure over those trials of the common tasks that have a value."""

    evaluator: str
    metric: str
    first: float
    second: float
    first_trials: int
    second_trials: int


class PairedComparison(Row):
    """One participant of the first run beside one of the second, paired by task.

    If trials failed, there are two readings: `comparison` counts the second run's failed trials
    against it and the first run's in its favour, the worst case for the second; `best_case` does
    the opposite.
    """

    first_agent: str
    second_agent: str
    comparison: Comparison
    best_case: Comparison | None = None
    """None if no trial failed, because the two readings are then the same."""
    failed_trials: int = 0
    """Failed trials of both runs in the compared tasks."""
    only_first: int
    """Tasks with a score in the first run only."""
    only_second: int

    @property
    def verdict(self) -> Verdict:
        """The verdict on the second run; undecided if the two readings disagree."""
        worst = verdict_of(self.comparison)
        best = worst if self.best_case is None else verdict_of(self.best_case)
        return worst if worst == best else "undecided"

    @property
    def is_regression(self) -> bool:
        """True if the second run is significantly worse in both readings."""
        return self.verdict == "worse"


class AgentComparison(PairedComparison):
    """Two participants by pass^1."""

    domains: tuple[str, ...] = ()
    """The domains of the benchmark that is compared, if the runs have several benchmarks."""
    gained: tuple[TaskMove, ...]
    lost: tuple[TaskMove, ...]
    lost_scores: int
    """Tasks of `only_first` that were played in the second run too, without a score."""
    drift: tuple[MetricDrift, ...]


class HeadlineComparison(PairedComparison):
    """Two participants by a headline that replaces pass^k."""

    domain: str
    name: str
    higher_is_better: bool

    @property
    def verdict(self) -> Verdict:
        """The verdict on the second run, by the headline's direction."""
        found = super().verdict
        if found == "worse" and not self.higher_is_better:
            return "better"
        if found == "better" and not self.higher_is_better:
            return "worse"
        return found


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
    first: EvaluationReport,
    second: EvaluationReport,
    *,
    other_data: bool = False,
    across_users: bool = False,
) -> RunComparison:
    """Compare a second run with a first, paired by task.

    Participants are matched by address, else by role. Two runs of one agent each are that agent
    before and after, whatever their addresses.

    Args:
        first: The run before.
        second: The run after.
        other_data: Compare even if the data revisions differ.
        across_users: Compare even if the simulated users differ: in who plays them, or how.

    Raises:
        RequestError: No participants match, no task was scored in both runs, or data or users
            differ.
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
    users = other_users(first, second, pairs)
    if users and not across_users:
        raise RequestError(
            f"runs {first.run_id} and {second.run_id} had different simulated users: "
            f"{'; '.join(users)}. Their scores do not compare; --across-users compares them anyway"
        )
    groups = _benchmarks(first, second)
    rows = [
        row
        for pair in pairs
        for domains in groups
        if (row := _compared(first, pair[0], second, pair[1], domains)) is not None
    ]
    figures = [
        compared
        for pair in pairs
        for compared in _compared_headlines(first, pair[0], second, pair[1])
    ]
    if not rows and not figures:
        raise RequestError(
            f"runs {first.run_id} and {second.run_id} have no task in common that was scored in "
            "both, so nothing can be compared"
        )
    missing = [each for pair in pairs for each in _missing(first, pair, groups, rows, figures)]
    return RunComparison(
        first_run=first.run_id,
        second_run=second.run_id,
        warnings=(
            *data,
            *_caveats(first, second),
            *users,
            *_other_makers(first, second, pairs),
            *_left_out(first, second, pairs, missing),
        ),
        agents=tuple(
            row if len(groups) > 1 else row.model_copy(update={"domains": ()}) for row in rows
        ),
        headlines=tuple(figures),
        undecided=tuple(_undecided(first, pairs, missing, rows, figures)),
    )


def _benchmarks(*runs: EvaluationReport) -> list[tuple[str, ...]]:
    """Return the domains of each benchmark that is scored by pass^k."""
    rows = [row for report in runs for row in report.summary]
    apart = {row.domain for row in rows if row.by_headlines}
    # Runs of old versions do not say which benchmark a domain is of.
    names = {row.domain: row.data.benchmark for row in rows} | {
        row.domain: row.data.benchmark for row in rows if row.data.benchmark is not None
    }
    found: dict[str | None, list[str]] = defaultdict(list)
    for domain, benchmark in names.items():
        if domain not in apart:
            found[benchmark].append(domain)
    return [tuple(domains) for domains in found.values()]


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
    first: EvaluationReport,
    one: str,
    second: EvaluationReport,
    other: str,
    domains: Collection[str],
) -> AgentComparison | None:
    """Compare a participant of each run in some domains; None if no task has a score in both."""
    earlier, later = (
        [t for t in report.trials if t.participant == agent and t.domain in domains]
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
        domains=tuple(domains),
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
    found = []
    for row in first.headlines:
        now = after.get((row.domain, row.name))
        if row.participant != one or row.domain not in apart or now is None:
            continue
        if readings := headline_readings(row, now):
            found.append(
                HeadlineComparison(
                    first_agent=one,
                    second_agent=other,
                    domain=row.domain,
                    name=row.name,
                    higher_is_better=row.higher_is_better,
                    comparison=readings[0],
                    best_case=readings[1] if len(readings) > 1 else None,
                    failed_trials=row.failed + now.failed,
                    only_first=len(row.by_task.keys() - now.by_task.keys()),
                    only_second=len(now.by_task.keys() - row.by_task.keys()),
                )
            )
    return found


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
    for trial in report.trials:
        if trial.participant == agent and trial.task in tasks and trial.agent_usage is not None:
            usage = {"tokens": trial.agent_usage.total_tokens, "cost": trial.agent_usage.cost}
            for metric, amount in usage.items():
                if amount is not None:
                    values[REPORTED, metric].append(amount)
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
            if report.stopped_by is not None and not is_budget(report.stopped_by)
        ],
    ]


def _refuse_other_scoring(first: EvaluationReport, second: EvaluationReport) -> None:
    for name in ("evaluation_type", "solo", "confidence"):
        before, after = getattr(first.plan, name), getattr(second.plan, name)
        if before != after:
            raise RequestError(
                f"run {first.run_id} was played with {name} {before!r}, run {second.run_id} with "
                f"{after!r}: these scores do not compare"
            )


def _other_makers(
    first: EvaluationReport, second: EvaluationReport, pairs: Sequence[tuple[str, str]]
) -> list[str]:
    """List pairs whose sources of rewards differ."""
    found = []
    for pair in pairs:
        before, after = (
            _makers(report, agent) for report, agent in zip((first, second), pair, strict=True)
        )
        if before and after and before != after:
            found.append(
                f"rewards made by: {', '.join(sorted(before))} for {pair[0]} in the first run, "
                f"{', '.join(sorted(after))} for {pair[1]} in the second"
            )
    return found


def _makers(report: EvaluationReport, agent: str) -> set[str]:
    scored = [t for t in report.trials if t.participant == agent and t.status == "scored"]
    return {t.produced_by for t in scored if t.produced_by is not None}


def _missing(
    first: EvaluationReport,
    pair: tuple[str, str],
    groups: Sequence[tuple[str, ...]],
    rows: Sequence[AgentComparison],
    figures: Sequence[HeadlineComparison],
) -> list[tuple[str, str, str]]:
    """List what of the first run a pair is not compared in: both agents, and the domains.

    The domains are empty if the pair is not compared at all.
    """
    compared = {
        domain
        for row in rows
        if (row.first_agent, row.second_agent) == pair
        for domain in row.domains
    } | {each.domain for each in figures if (each.first_agent, each.second_agent) == pair}
    if not compared:
        return [(*pair, "")]
    scored = dict.fromkeys(
        trial.domain
        for trial in first.trials
        if trial.participant == pair[0] and trial.status == "scored"
    )
    apart = {row.domain for row in first.summary if row.by_headlines}
    expected = [*groups, *((domain,) for domain in scored if domain in apart)]
    return [
        (*pair, " and ".join(domains))
        for domains in expected
        if not compared & set(domains) and scored.keys() & set(domains)
    ]


def _undecided(
    first: EvaluationReport,
    pairs: Sequence[tuple[str, str]],
    missing: Sequence[tuple[str, str, str]],
    rows: Sequence[AgentComparison],
    figures: Sequence[HeadlineComparison],
) -> list[str]:
    counterparts = {one for one, _ in pairs}
    found = [
        f"{agent} is in the first run alone"
        for agent in _agents(first)
        if agent not in counterparts and agent not in (FLOOR, CEILING)
    ]
    found += [
        f"{other} has no task{f' of {domains}' if domains else ''} in common"
        for _, other, domains in missing
    ]
    for row in (*rows, *figures):
        of = f" in {row.name} of {row.domain}" if isinstance(row, HeadlineComparison) else ""
        if row.verdict == "undecided":
            found.append(
                f"{row.second_agent} has {row.failed_trials} failed trials that decide the verdict{of}"
            )
        if row.only_first:
            tasks = row.only_first + row.comparison.tasks
            found.append(f"{row.second_agent} lacks {row.only_first} of {tasks} tasks{of}")
    return found


def _left_out(
    first: EvaluationReport,
    second: EvaluationReport,
    pairs: Sequence[tuple[str, str]],
    missing: Sequence[tuple[str, str, str]],
) -> list[str]:
    found = [
        f"{other} is not compared{f' in {domains}' if domains else ''}: it has no scored task in "
        f"common with {one} of the first run"
        for one, other, domains in missing
    ]
    for report, place in ((first, 0), (second, 1)):
        compared = {pair[place] for pair in pairs}
        found += [
            f"{agent} of run {report.run_id} has no counterpart and is not compared"
            for agent in _agents(report)
            if agent not in compared and agent not in (FLOOR, CEILING)
        ]
    return found


def verdict_of(found: Comparison) -> Verdict:
    """Return the verdict of one reading, where higher is better."""
    if not found.is_significant:
        return "no difference"
    return "worse" if found.difference < 0 else "better"
