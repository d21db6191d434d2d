"""Overview: what the list of runs says of each run, read again only where its files changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from adk_agent.core.errors import GreenroomError
from adk_agent.core.redaction import ModelRedactor
from adk_agent.runs.store import REPORT, TRIALS
from adk_agent.runs.tracking import RunStatus, read_status, run_ids
from adk_agent.site.report_head import ReportHead, read_head
from evals.statistics import Interval

UNREADABLE = "unreadable"
"""The state of a run whose files cannot be read."""
_STATUS = "status.json"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Stamp = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True, kw_only=True)
class ScoreLine:
    """One score of one agent: pass^1, or a headline that stands for it."""

    agent: str
    domain: str
    figure: str = "pass^1"
    value: float | None = None
    high: float | None = None
    """With failed trials in its favour; None where that is the same."""
    interval: Interval | None = None
    floor: float | None = None
    tasks: int
    trials: int
    passed: int | None = None


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """A run in the list."""

    run_id: str
    state: str
    request: str = ""
    started_at: datetime = _EPOCH
    done: int | None = None
    total: int | None = None
    scores: tuple[ScoreLine, ...] = ()
    problem: str | None = None
    """Why it ended, or cannot be read."""
    is_copy: bool = False
    """True for a folder that holds the run of another id."""

    @property
    def is_running(self) -> bool:
        """True while a process plays it."""
        return self.state == "running"


class Overview:
    """The runs of a folder.

    Args:
        results_dir: The folder.
        redactor: Masks what must not be seen.
    """

    def __init__(self, results_dir: Path, redactor: ModelRedactor) -> None:
        self._results_dir = results_dir
        self._redactor = redactor
        self._known: dict[str, tuple[_Stamp, RunLine]] = {}

    def lines(self) -> list[RunLine]:
        """Return all runs, the latest first; one that cannot be read says why.

        Raises:
            StorageError: The folder cannot be read.
        """
        ids = run_ids(self._results_dir)
        found = {run_id: self._line(run_id) for run_id in ids}
        self._known = {run_id: each for run_id, each in self._known.items() if run_id in found}
        return [*found.values()]

    def _line(self, run_id: str) -> RunLine:
        directory = self._results_dir / run_id
        stamp = tuple(_stamp(directory / name) for name in (_STATUS, REPORT, "manifest.json"))
        known = self._known.get(run_id)
        # Of a running one the process may be gone, which no file tells.
        if known is not None and known[0] == stamp and not known[1].is_running:
            return known[1]
        try:
            line = _line_of(directory, read_status(self._results_dir, run_id))
        except GreenroomError as error:
            line = RunLine(run_id=run_id, state=UNREADABLE, problem=str(error))
        line = self._redacted(line)
        self._known[run_id] = stamp, line
        return line

    def _redacted(self, line: RunLine) -> RunLine:
        text = self._redactor.text
        return replace(
            line,
            request=text(line.request),
            problem=None if line.problem is None else text(line.problem),
            scores=tuple(replace(each, agent=text(each.agent)) for each in line.scores),
        )


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _line_of(directory: Path, status: RunStatus) -> RunLine:
    progress, is_copy = status.progress, status.run_id != directory.name
    return RunLine(
        run_id=directory.name,
        state=status.state,
        request=status.request,
        started_at=status.started_at,
        done=None if progress is None else progress.done,
        total=None if progress is None else progress.total,
        scores=tuple(_scores(directory, status)),
        problem=f"This folder holds a copy of the run {status.run_id}."
        if is_copy
        else status.problem,
        is_copy=is_copy,
    )


def _scores(directory: Path, status: RunStatus) -> Sequence[ScoreLine]:
    """Return the report's scores, or the running ones where it is missing or out of date."""
    report = _stamp(directory / REPORT)
    trials = _stamp(directory / TRIALS)
    if report is None or not status.has_ended:
        return list(_of_status(status))
    is_current = trials is None or report[0] >= trials[0]
    if is_current or status.state in ("complete", "incomplete"):
        return list(_of_report(read_head(directory / REPORT)))
    return list(_of_status(status))


def _of_report(head: ReportHead) -> Iterator[ScoreLine]:
    for row in head.summary:
        if row.by_headlines:
            continue
        value, high = row.pass_hat_k.get("1"), row.high("1")
        yield ScoreLine(
            agent=row.participant,
            domain=row.domain,
            value=value,
            high=None if high == value else high,
            interval=row.intervals.get("1"),
            floor=None if row.floor is None else row.floor.over_all,
            tasks=row.tasks,
            trials=row.trials,
            passed=row.passed,
        )
    apart = {(row.participant, row.domain) for row in head.summary if row.by_headlines}
    for figure in head.headlines:
        if (figure.participant, figure.domain) not in apart:
            continue
        low, best = figure.ends or (None, None)
        yield ScoreLine(
            agent=figure.participant,
            domain=figure.domain,
            figure=figure.name,
            value=low,
            high=None if best == low else best,
            interval=figure.interval,
            floor=figure.floor,
            tasks=figure.tasks,
            trials=figure.trials,
        )


def _of_status(status: RunStatus) -> Iterator[ScoreLine]:
    for score in () if status.progress is None else status.progress.scores:
        yield ScoreLine(
            agent=score.participant,
            domain=score.domain,
            value=score.pass_1,
            high=None if score.pass_1_high == score.pass_1 else score.pass_1_high,
            interval=score.interval,
            tasks=score.tasks,
            trials=score.trials,
            passed=score.passed,
        )
