"""Headlines: the main figures of benchmarks that use something other than pass^k."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.summary import (
    DomainReferences,
    ReferencePlay,
    References,
    Row,
    TrialRow,
    mean,
    span,
)
from evals.outcome import Scored
from evals.statistics import INTERVAL_METHOD, Comparison, Interval, compare, interval_of_mean


class HeadlineSpec(Row):
    """The definition of a headline."""

    name: str
    component: str | None = None
    """The component of a trial's result; None for the reward."""
    cases: dict[str, str] = Field(default_factory=dict)
    """The attributes that a task needs in order to count; empty to count all tasks."""
    higher_is_better: bool = True
    passed_only: bool = False
    """Leave out trials that did not pass."""
    despite_errors: bool = False
    """Take the component also of trials that the agent itself ended, if it has one."""


class DomainHeadlines(Row):
    """The headlines of a domain, and the attributes that select their tasks."""

    headlines: tuple[HeadlineSpec, ...]
    replace_pass_hat_k: bool = False
    """True if pass^k is none of the benchmark's figures: its tasks answer different questions."""
    attributes: dict[str, dict[str, str]] = Field(default_factory=dict)
    """The attributes that headlines select by, per task id of the plan."""

    def counts(self, headline: HeadlineSpec, task_id: str) -> bool:
        """Tell whether a task is one of a headline's cases."""
        return headline.cases.items() <= self.attributes.get(task_id, {}).items()


class HeadlineRow(Row):
    """One headline of one participant in one domain, never combined with another.

    If trials failed, the figure is a range: `value` counts them against the agent, `at_best` in its
    favour. A trial that the agent itself ended counts against it, unless the headline counts only
    passed trials, or takes the component despite errors. Unscored trials are left out. Figures are None if nothing was scored.
    """

    participant: str
    domain: str
    name: str
    component: str | None
    """The component that is counted; None for the reward."""
    cases: dict[str, str]
    """The attributes of the tasks that count; empty if all do."""
    higher_is_better: bool
    passed_only: bool = False
    """Trials that did not pass are left out, as unscored."""
    despite_errors: bool = False
    """Trials that the agent itself ended count as their component says, if they have one."""
    tasks: int
    """Number of cases: tasks with a scored or failed trial."""
    scored: int
    """Trials of these cases that have a value, or that the agent ended."""
    unscored: int
    failed: int
    by_task: dict[str, float] = Field(default_factory=dict)
    """The mean of each task's trials, 0 to 1, failed ones counted against the agent."""
    by_task_at_best: dict[str, float] = Field(default_factory=dict)
    """The same with failed trials counted in its favour; empty if none failed."""
    value: float | None
    """Mean over tasks of the mean of each task's trials, 0 to 1."""
    at_best: float | None
    """Equal to `value` if no trial failed."""
    interval: Interval | None
    """From the low end's interval to the high end's, 0 to 1; see `interval_method`."""
    interval_method: str = INTERVAL_METHOD
    floor: float | None = None
    """The figure of an agent that does nothing, over the same cases; None where it is not known."""
    ceiling: float | None = None
    """The figure of the tasks' own solutions."""
    others: dict[str, float] = Field(default_factory=dict)
    """The figures of the benchmark's further references, by name, where they are known."""

    @property
    def trials(self) -> int:
        """The number of its trials that ended."""
        return self.scored + self.unscored + self.failed

    @property
    def ends(self) -> tuple[float, float] | None:
        """The low and the high end of the figure, or None."""
        if self.value is None or self.at_best is None:
            return None
        return min(self.value, self.at_best), max(self.value, self.at_best)


def headline_readings(first: HeadlineRow, second: HeadlineRow) -> tuple[Comparison, ...]:
    """Compare the same headline of two agents, paired by task; empty if they share no task.

    The first reading counts failed trials against the second agent and in favour of the first. If
    trials failed, a second one does the opposite.
    """

    def values(row: HeadlineRow, *, at_best: bool) -> dict[str, list[float]]:
        found = row.by_task_at_best if at_best and row.by_task_at_best else row.by_task
        return {task: [value] for task, value in found.items()}

    readings = [compare(values(first, at_best=True), values(second, at_best=False))]
    if first.by_task_at_best or second.by_task_at_best:
        readings.append(compare(values(first, at_best=False), values(second, at_best=True)))
    return tuple(reading for reading in readings if reading is not None)


Headlines = Mapping[str, DomainHeadlines]
"""Headlines by domain; a domain whose benchmark uses only pass^k is absent."""


def replacing(headlines: Headlines) -> frozenset[str]:
    """Return the domains whose headlines replace pass^k."""
    return frozenset(name for name, each in headlines.items() if each.replace_pass_hat_k)


def headline_rows(
    trials: Sequence[TrialRow],
    plan: EvaluationPlan,
    headlines: Headlines,
    references: References | None = None,
) -> tuple[HeadlineRow, ...]:
    """Make a row for each participant, domain and headline, in the order of the plan."""
    rows = []
    for participant in plan.participants:
        for domain in plan.domains:
            if domain not in headlines:
                continue
            specs = headlines[domain]
            for headline in specs.headlines:
                mine = [
                    trial
                    for trial in trials
                    if (trial.participant, trial.domain) == (participant.address, domain)
                    and specs.counts(headline, trial.task_id)
                ]
                row = _row(headline, mine, participant.address, domain)
                beside = (references or {}).get(domain, DomainReferences())
                others = {
                    name: _mark(headline, played, row.by_task)
                    for name, played in beside.others.items()
                }
                marks = {
                    "floor": _mark(headline, beside.floor, row.by_task),
                    "ceiling": _mark(headline, beside.ceiling, row.by_task),
                    "others": {name: each for name, each in others.items() if each is not None},
                }
                rows.append(row.model_copy(update=marks))
    return tuple(rows)


def _row(
    headline: HeadlineSpec, trials: Iterable[TrialRow], participant: str, domain: str
) -> HeadlineRow:
    worst, best = (0.0, 1.0) if headline.higher_is_better else (1.0, 0.0)
    against: dict[str, list[float]] = defaultdict(list)
    in_favour: dict[str, list[float]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for trial in trials:
        value = _value(trial, headline, worst)
        counts[value if isinstance(value, str) else "scored"] += 1
        if value == "unscored":
            continue
        against[trial.task_id].append(worst if value == "failed" else value)
        in_favour[trial.task_id].append(best if value == "failed" else value)
    low, high = (
        {task: sum(each) / len(each) for task, each in end.items()} if counts["scored"] else {}
        for end in (against, in_favour)
    )
    at_worst, at_best = list(low.values()), list(high.values())
    return HeadlineRow(
        **headline.model_dump(),
        participant=participant,
        domain=domain,
        tasks=len(against),
        scored=counts["scored"],
        unscored=counts["unscored"],
        failed=counts["failed"],
        by_task=low,
        by_task_at_best=high if counts["failed"] else {},
        value=mean(at_worst),
        at_best=mean(at_best),
        interval=span(*map(interval_of_mean, sorted((at_worst, at_best), key=sum))),
    )


def _mark(
    headline: HeadlineSpec, played: ReferencePlay | None, tasks: Iterable[str]
) -> float | None:
    """Return a reference's figure over some tasks; None where it is not known of each of them."""
    if played is None or headline.passed_only:
        return None
    values = [
        played.rewards.get(task)
        if headline.component is None
        else played.components.get(task, {}).get(headline.component)
        for task in tasks
    ]
    known = [value for value in values if value is not None]
    return mean(known) if len(known) == len(values) else None


def _value(
    trial: TrialRow, headline: HeadlineSpec, worst: float
) -> float | Literal["unscored", "failed"]:
    """Return a trial's value; one that the agent ended has the worst, unless errors do not count."""
    if trial.status == "failed":
        return "failed"
    if headline.passed_only and not trial.passed:
        return "unscored"
    outcome = next(
        (each.outcome for each in trial.components if each.name == headline.component), None
    )
    is_kept = headline.despite_errors and isinstance(outcome, Scored)
    if trial.fault == "agent" and not is_kept:
        return worst
    if headline.component is None:
        return "unscored" if trial.reward is None else trial.reward
    if outcome is None:
        return "unscored"
    return outcome.value if isinstance(outcome, Scored) else outcome.status
