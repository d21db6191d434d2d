"""Checked evaluations: what the fixtures of the pytest plug-in return, with assertions.

A score that failed trials leave open neither passes nor fails: its check raises `IncompleteError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adk_agent.conversation.why import trial_text
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.escaping import escape_controls
from adk_agent.core.redaction import ModelRedactor
from adk_agent.core.settings import Settings
from adk_agent.results.comparison import HeadlineComparison, PairedComparison, compare_runs
from adk_agent.results.comparison_text import summary
from adk_agent.results.meaning import best_above_floor, meaning_of, pass_1_of_all
from adk_agent.results.report import EvaluationReport as Report
from adk_agent.results.summary import OverallRow, SummaryRow, TrialRow
from adk_agent.results.tables import number, score_range
from adk_agent.runs.naming import BY_AGE, find_run
from adk_agent.runs.store import StoredTrials, load_report
from greenroom.agents import Agents
from greenroom.reports import load_report as load_any
from greenroom.running import aevaluate

Row = OverallRow | SummaryRow


class IncompleteError(GreenroomError):
    """A check is undecided: trials broke, or have no score, through no fault of the agent."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """An evaluation that ended.

    Args:
        report: Its report.
        results_dir: The folder in which its run is kept.
    """

    report: Report
    results_dir: Path

    @property
    def path(self) -> Path:
        """The folder of the run."""
        return self.results_dir / self.report.run_id

    def assert_pass_1(self, at_least: float) -> None:
        """Check that pass^1 reaches a bound.

        Args:
            at_least: The bound, 0 to 1.

        Raises:
            AssertionError: It is lower, even with failed and unscored trials counted as passed.
            IncompleteError: Failed or unscored trials decide, or no trial has a score.
            RequestError: The bound is no share, or headlines replace pass^k.
        """
        __tracebackhide__ = True
        if isinstance(at_least, bool) or not isinstance(at_least, int | float):
            raise RequestError(f"at_least is {at_least!r}: give a share from 0 to 1")
        if not 0 <= at_least <= 1:
            raise RequestError(f"at_least is {at_least!r}: give a share from 0 to 1")
        for row in self._rows():
            low, high = self._ends(row)
            told = f"{_name(row)}: pass^1 is {score_range(low, high)}{_interval(row)}"
            if row.unscored:
                low, high = pass_1_of_all(self.report, row)
                told += f", and {score_range(low, high)} with its {row.unscored} unscored trials"
            if low >= at_least:
                continue
            if high >= at_least:
                raise self._incomplete(f"{told}, so that {at_least:g} is not decided", [row])
            raise self._failure(f"{told}, below {at_least:g}", self._lost([row]))

    def assert_above_floor(self, *, on_average: bool = False) -> None:
        """Check that pass^1 is above that of an agent that does nothing, paired by task.

        Args:
            on_average: Let a higher mean suffice. Otherwise the whole 95 % interval of the
                difference must be above 0, so that chance does not explain it.

        Raises:
            AssertionError: It is not.
            IncompleteError: Failed trials decide, or no floor is known.
            RequestError: Headlines replace pass^k.
        """
        __tracebackhide__ = True
        for row in self._rows():
            gained, within = row.above_floor, row.above_floor_interval
            told = f"{_name(row)}: {meaning_of(self.report, row)}"
            if gained is None or within is None:
                raise self._incomplete(told, [row])
            if gained > 0 and (on_average or within.low > 0):
                continue
            if row.failed and (best_above_floor(self.report, row) or 0) > 0:
                raise self._incomplete(told, [row])
            advice = ""
            if gained > 0:
                advice = "; take more tasks, or let the mean suffice by on_average=True"
            raise self._failure(f"{told}{advice}", self._lost([row]))

    def assert_no_worse_than(
        self,
        baseline: Report | Checked | str | Path,
        *,
        on_average: bool = False,
        by_task: bool = False,
        other_data: bool = False,
        across_users: bool = False,
    ) -> None:
        """Check that the agent is not significantly worse than in an earlier run, paired by task.

        Args:
            baseline: The earlier run: its id, its folder, its report or the evaluation itself.
            on_average: Allow no lower score either, however small the difference.
            by_task: Allow no task either of which a smaller share of trials passes now.
            other_data: Compare even if the data revisions differ.
            across_users: Compare even if the simulated users differ.

        Raises:
            AssertionError: It is worse.
            IncompleteError: Failed trials, or tasks without a score, decide.
            RequestError: The runs cannot be compared.
            StorageError: The baseline cannot be read.
        """
        __tracebackhide__ = True
        try:
            found = compare_runs(
                self._loaded(baseline),
                self.report,
                other_data=other_data,
                across_users=across_users,
            )
        except GreenroomError as error:
            raise _brief(error) from None
        rows = [*found.agents, *found.headlines]
        lost = {(move.domain, move.task_id) for row in found.agents for move in row.lost}
        worse = [row for row in rows if row.is_regression]
        lower = [row for row in rows if on_average and _is_lower(row)]
        fewer = [row for row in found.agents if by_task and row.lost]
        what = (
            "is significantly worse" * bool(worse)
            or "has a lower score" * bool(lower)
            or "passes fewer trials of a task" * bool(fewer)
        )
        alone = [row.model_copy(update={"drift": ()}) for row in found.agents]
        told = summary(found.model_copy(update={"agents": tuple(alone)})).strip()
        is_certain = (
            bool(worse)
            or any(_is_lower(row, at_best=True) for row in lower)
            or any(not row.failed_trials for row in fewer)
        )
        if is_certain:
            failing = [row for row in self.report.trials if row.task in lost]
            raise self._failure(
                f"{self._agents()} {what} than in run {found.first_run}\n{told}",
                [row for row in failing if not row.passed] or self._lost(self.report.score_rows),
            )
        if found.undecided or lower or fewer:
            why = "; ".join(found.undecided) or "failed trials decide"
            raise self._incomplete(f"{why}\n{told}", self.report.score_rows)

    def _agents(self) -> str:
        return ", ".join(dict.fromkeys(row.participant for row in self.report.score_rows))

    def _rows(self) -> Sequence[Row]:
        rows = self.report.score_rows
        for row in rows:
            if isinstance(row, SummaryRow) and row.by_headlines:
                raise RequestError(
                    f"{row.domain} has no pass^1, because its tasks answer different questions: "
                    "check the figures of evaluation.report.headlines"
                )
        return rows

    def _ends(self, row: Row) -> tuple[float, float]:
        low, high = row.pass_hat_k.get("1"), row.high("1")
        if low is None or high is None:
            raise self._incomplete(f"{_name(row)}: {meaning_of(self.report, row)}", [row])
        return low, high

    def _loaded(self, baseline: Report | Checked | str | Path) -> Report:
        if isinstance(baseline, Checked):
            return baseline.report
        if isinstance(baseline, Report):
            return baseline
        is_here = isinstance(baseline, str) and (self.results_dir / baseline).is_dir()
        if is_here or baseline in BY_AGE:
            return load_report(*find_run(str(baseline), self.results_dir))
        return load_any(baseline)

    def _lost(self, rows: Iterable[Row]) -> list[TrialRow]:
        agents = {row.participant for row in rows}
        return [
            trial
            for trial in self.report.trials
            if trial.participant in agents and trial.status == "scored" and not trial.passed
        ]

    def _failure(self, told: str, lost: Sequence[TrialRow]) -> AssertionError:
        """Return an error with the first of the trials that did not pass, and where to see all."""
        parts = [told]
        if lost:
            redactor = ModelRedactor(Settings.load().secrets())
            stored = StoredTrials(self.results_dir, self.report.run_id)
            text = trial_text(lost[0], stored, redactor).replace("**", "")
            text = text.replace("\n> - ", "\n  ")
            parts.append(f"task {lost[0].task_id} of {lost[0].domain}, {text}")
            if len(lost) > 1:
                parts.append(f"{len(lost) - 1} more trials did not pass")
        return AssertionError(escape_controls("\n\n".join([*parts, self._where()])))

    def _incomplete(self, told: str, rows: Iterable[Row]) -> IncompleteError:
        agents = {row.participant for row in rows}
        lines = [f"incomplete: {told}"]
        for status, what in (("failed", "broke"), ("unscored", "could not be scored")):
            found = [
                trial
                for trial in self.report.trials
                if trial.participant in agents and trial.status == status
            ]
            if found:
                trials = "1 trial" if len(found) == 1 else f"{len(found)} trials"
                lines.append(f"{trials} {what}, the first because of: {found[0].reason}")
        return IncompleteError(escape_controls("\n".join([*lines, self._where()])))

    def _where(self) -> str:
        usual = Settings.load().results_dir
        is_usual = usual.resolve() == self.results_dir.resolve()
        folder = "" if is_usual else f" --results-dir {self.results_dir}"
        return f"run: {self.path}\nsee all of it: greenroom view {self.report.run_id}{folder}"


@dataclass(frozen=True)
class _Marked:
    marked: Mapping[str, Any]
    folder: Path

    async def _evaluate(
        self, agent: Agents, benchmark_or_domain: str | Path | None, options: Mapping[str, Any]
    ) -> Checked:
        chosen = {**self.marked, **options}
        domain = chosen.pop("domain", None) if benchmark_or_domain is None else benchmark_or_domain
        chosen.pop("domain", None)
        if domain is None:
            raise RequestError(
                "no domain is named: write greenroom_evaluate(agent, 'NAME') or "
                "@pytest.mark.greenroom(domain='NAME')"
            )
        given = chosen.pop("results_dir", None)
        results_dir = self.folder / (Settings.load().results_dir if given is None else given)
        report = await aevaluate(agent, domain, results_dir=results_dir, **chosen)
        return Checked(report=report, results_dir=results_dir)


class Evaluator(_Marked):
    """The fixture `greenroom_evaluate`."""

    def __call__(
        self, agent: Agents, benchmark_or_domain: str | Path | None = None, **options: Any
    ) -> Checked:
        """Evaluate as `greenroom.evaluate` does; what is not given, the markers say.

        Raises:
            RuntimeError: An event loop is already running.
            GreenroomError: As for `greenroom.aevaluate`.
        """
        __tracebackhide__ = True
        if _is_in_a_loop():
            raise RuntimeError(
                "an event loop is already running: use the fixture greenroom_aevaluate and await it"
            )
        work = self._evaluate(agent, benchmark_or_domain, options)
        try:
            return asyncio.run(work)  # noqa: TID251 - for tests without an event loop
        except GreenroomError as error:
            raise _brief(error) from None


class AsyncEvaluator(_Marked):
    """The fixture `greenroom_aevaluate`."""

    async def __call__(
        self, agent: Agents, benchmark_or_domain: str | Path | None = None, **options: Any
    ) -> Checked:
        """Evaluate as `greenroom.aevaluate` does; what is not given, the markers say.

        Raises:
            GreenroomError: As for `greenroom.aevaluate`.
        """
        __tracebackhide__ = True
        try:
            return await self._evaluate(agent, benchmark_or_domain, options)
        except GreenroomError as error:
            raise _brief(error) from None


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _brief(error: GreenroomError) -> GreenroomError:
    """Return an error without the way that it took: its message says what to do."""
    return error.with_traceback(None)


def _name(row: Row) -> str:
    where = row.domain if isinstance(row, SummaryRow) else " and ".join(row.domains)
    return f"{row.participant} on {where}"


def _interval(row: Row) -> str:
    found = row.intervals.get("1")
    over = "1 task" if row.tasks == 1 else f"{row.tasks} tasks"
    if found is None:
        return f" over {over}"
    return f" over {over} (95 % interval {number(found.low)} to {number(found.high)})"


def _is_lower(row: PairedComparison, *, at_best: bool = False) -> bool:
    """Tell whether the second figure is the worse one: as counted against it, or in its favour."""
    reading = row.best_case if at_best and row.best_case is not None else row.comparison
    is_upward = not isinstance(row, HeadlineComparison) or row.higher_is_better
    return reading.difference < 0 if is_upward else reading.difference > 0
