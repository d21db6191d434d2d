"""RunningScores: how a run stands while it goes on, by its trials that ended so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.summary import TrialKey, TrialOutcome, TrialRow, mean
from evals.quick_interval import quick_interval
from evals.statistics import Interval, interval_of_mean

Group = tuple[str, str]
"""Participant's address and domain."""
MOST_REASON_CHARS = 500
_REFRESH_SHARE = 50
"""A score is made anew once one in this many of its trials was added or repeated."""


class RunningScore(BaseModel):
    """What one participant has reached in one domain so far."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    participant: str
    domain: str
    tasks: int
    """With a scored trial."""
    trials: int
    passed: int
    scored: int
    pass_1: float | None
    """Mean over tasks of the share of their trials that passed, failed ones counted as not passed;
    None where none is scored."""
    pass_1_high: float | None = None
    """The same with failed trials counted as passed."""
    interval: Interval | None
    """From that of `pass_1` to that of `pass_1_high`, 95 %. While the run goes on, by
    `evals.quick_interval`."""

    @property
    def summary(self) -> str:
        """The score in words; empty where there is none."""
        if self.pass_1 is None or self.interval is None:
            return ""
        at_most = "" if self.pass_1_high in (None, self.pass_1) else f" to {self.pass_1_high:.3f}"
        return f"pass^1 {self.pass_1:.3f}{at_most} ({self.interval.low:.3f} to {self.interval.high:.3f})"


@dataclass(frozen=True, kw_only=True)
class EndedTrial:
    """What is kept of a trial that ended."""

    participant: str
    domain: str
    task_id: str
    trial: int
    outcome: TrialOutcome
    why: str | None = None
    """Why it has no score, or what it failed of, where that is known."""
    broke_off: bool = False
    """Whether it has no score, or was ended by the agent itself: every line then says why."""
    total_tokens: int | None = None
    cost: float | None = None

    @classmethod
    def of(cls, row: TrialRow) -> EndedTrial:
        """The same of a trial's row."""
        why = row.reason
        if why is None and row.diagnosis is not None:
            why = f"{row.diagnosis.kind.replace('_', ' ')}: {row.diagnosis.summary}"
        return cls(
            participant=row.participant,
            domain=row.domain,
            task_id=row.task_id,
            trial=row.trial,
            outcome=row.outcome,
            why=None if why is None or row.passed else why[:MOST_REASON_CHARS],
            broke_off=row.reason is not None,
            total_tokens=row.total_tokens,
            cost=row.cost,
        )

    @property
    def key(self) -> TrialKey:
        """What tells it from every other trial of its run."""
        return self.participant, self.domain, self.task_id, self.trial

    @property
    def label(self) -> str:
        """The trial in words."""
        return f"{self.participant} {self.domain} {self.task_id} trial {self.trial}"

    def summary(self, *, diagnosed: bool = False) -> str:
        """Say in a line how it ended, and why if it broke off or, with `diagnosed`, did not pass."""
        why = self.why if self.broke_off or diagnosed else None
        return f"{self.label}: {self.outcome}" + (f": {' '.join(why.split())}" if why else "")


class RunningScores:
    """Takes in trials as they end; of one that ended twice, the last counts.

    Args:
        tasks: In which order scores are told, and tasks count within them; others follow as they are
            met. The intervals of a report depend on that order in their third digit.
    """

    def __init__(self, tasks: Mapping[Group, Iterable[str]] | None = None) -> None:
        self.counts: Counter[str] = Counter()
        """Trials by outcome."""
        self._trials: dict[TrialKey, EndedTrial] = {}
        self._scores = {
            group: _Score(*group, scored=Counter(dict.fromkeys(task_ids, 0)))
            for group, task_ids in (tasks or {}).items()
        }
        self._tokens = _Sum()
        self._cost = _Sum()

    @classmethod
    def of_plan(cls, plan: EvaluationPlan) -> RunningScores:
        """One that tells scores in the order of a plan."""
        return cls(
            {
                (participant.address, planned.domain): planned.task_ids
                for participant in plan.participants
                for planned in plan.tasks
            }
        )

    def add(self, trial: EndedTrial) -> None:
        """Take in a trial that ended."""
        before = self._trials.get(trial.key)
        if before is not None:
            self._count(before, -1)
        self._trials[trial.key] = trial
        self._count(trial, 1)

    def _count(self, trial: EndedTrial, by: int) -> None:
        self.counts[trial.outcome] += by
        self._tokens.count(trial.total_tokens, by)
        self._cost.count(trial.cost, by)
        group = trial.participant, trial.domain
        self._scores.setdefault(group, _Score(*group)).count(trial, by)

    @property
    def done(self) -> int:
        """Trials that ended."""
        return len(self._trials)

    @property
    def total_tokens(self) -> float | None:
        """Of the assessor's own models; None where no trial told."""
        return self._tokens.value

    @property
    def cost(self) -> float | None:
        """Of the assessor's own models, in US dollars; None where no trial told."""
        return self._cost.value

    def scores(self) -> tuple[RunningScore, ...]:
        """What each participant has reached in each domain of which a trial ended.

        Cheap: a score is made anew once a fiftieth of its trials was added or repeated.
        """
        return tuple(score.lately() for score in self._scores.values() if score.trials)

    def exact_scores(self) -> tuple[RunningScore, ...]:
        """The same of this very moment, with the intervals that a report gives.

        A tenth of a second for a few hundred tasks.
        """
        return tuple(
            score.made(interval_of_mean) for score in self._scores.values() if score.trials
        )


@dataclass
class _Sum:
    """Of what is known: adding it all up for every trial would grow with the square of them."""

    known: int = 0
    sum: float = 0

    def count(self, value: float | None, by: int) -> None:
        if value is not None:
            self.known += by
            self.sum += by * value

    @property
    def value(self) -> float | None:
        return self.sum if self.known else None


@dataclass
class _Score:
    participant: str
    domain: str
    trials: int = 0
    passed: Counter[str] = field(default_factory=Counter)
    scored: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    """By task."""
    _last: RunningScore | None = None
    _since: int = 0
    """Trials that were taken in after the last score was made, repeated ones too."""

    def count(self, trial: EndedTrial, by: int) -> None:
        self.trials += by
        self._since += by > 0
        if trial.outcome in ("passed", "not passed"):
            self.scored[trial.task_id] += by
            self.passed[trial.task_id] += by * (trial.outcome == "passed")
        elif trial.outcome == "failed":
            self.failed[trial.task_id] += by

    def lately(self) -> RunningScore:
        last = self._last
        if last is None or self._since > last.trials // _REFRESH_SHARE:
            self._since = 0
            self._last = last = self.made(quick_interval)
        return last

    def made(self, interval: Callable[[Sequence[float]], Interval | None]) -> RunningScore:
        low, high = self._shares()
        within = interval(low)
        if high != low and within is not None:
            within = within.reaching(interval(high) or within)
        return RunningScore(
            participant=self.participant,
            domain=self.domain,
            tasks=sum(count > 0 for count in self.scored.values()),
            trials=self.trials,
            passed=self.passed.total(),
            scored=self.scored.total(),
            pass_1=mean(low),
            pass_1_high=mean(high),
            interval=within,
        )

    def _shares(self) -> tuple[list[float], list[float]]:
        """Each task's share of passed trials, with failed ones as not passed and as passed."""
        if not self.scored.total():
            return [], []
        counted = {
            task: self.scored[task] + self.failed[task]
            for task in dict.fromkeys((*self.scored, *self.failed))
        }
        low, high = (
            [(self.passed[task] + more[task]) / count for task, count in counted.items() if count]
            for more in (Counter[str](), self.failed)
        )
        return low, high
