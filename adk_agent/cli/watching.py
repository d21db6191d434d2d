"""watch: a run on one screen that is renewed until the run ends, whichever process plays it.

Everything is read from the run's folder; nothing is written, so that to end it ends nothing else.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from adk_agent.core.escaping import escape_controls
from adk_agent.results.progress import counts_of
from adk_agent.results.running_scores import EndedTrial, RunningScore, RunningScores
from adk_agent.results.tables import score_range
from adk_agent.runs.store import MANIFEST, load_manifest
from adk_agent.runs.tracking import RunStatus, read_status
from adk_agent.runs.trial_lines import TrialLines

POLL_S = 0.25
MOST_KEPT = 200
"""Trials that did not pass, of which the newest are shown as far as the screen has room."""
_STYLES = {"not passed": "yellow", "unscored": "magenta", "failed": "red"}


class Watched:
    """What is known of a run from its folder. `look` reads what is new.

    Args:
        results_dir: The folder of runs.
        run_id: The run's id.
    """

    def __init__(self, results_dir: Path, run_id: str) -> None:
        self._results_dir = results_dir
        self._run_id = run_id
        self._lines = TrialLines(results_dir / run_id)
        self._scores: RunningScores | None = None
        self._not_passed: deque[EndedTrial] = deque(maxlen=MOST_KEPT)
        self.status = read_status(results_dir, run_id)

    def look(self) -> list[EndedTrial]:
        """Read what is new, and return the trials among it that did not pass.

        Raises:
            RequestError, StorageError: The run cannot be read any more.
        """
        # The status first: a run that has ended by then has written all of its trials.
        self.status = read_status(self._results_dir, self._run_id)
        ended = self._lines.new()
        if ended:
            self._add(ended)
        not_passed = [trial for trial in ended if trial.outcome != "passed"]
        self._not_passed.extend(not_passed)
        return not_passed

    @property
    def scores(self) -> Sequence[RunningScore]:
        """As the report will show them once the run has ended."""
        if self._scores is None:
            return ()
        ended = self.status.has_ended
        return self._scores.exact_scores() if ended else self._scores.scores()

    def _add(self, ended: Sequence[EndedTrial]) -> None:
        running_scores = self._scores or self._in_the_order_of_the_plan()
        for trial in ended:
            running_scores.add(trial)
        self._scores = running_scores

    def _in_the_order_of_the_plan(self) -> RunningScores:
        if not (self._results_dir / self._run_id / MANIFEST).exists():
            return RunningScores()
        return RunningScores.of_plan(load_manifest(self._results_dir, self._run_id).plan)

    @property
    def not_passed(self) -> Sequence[EndedTrial]:
        """The last trials that did not pass, the newest last."""
        return self._not_passed

    @property
    def unreadable(self) -> int:
        """Lines of the run's trials that this version cannot read."""
        return self._lines.unreadable


def watch(
    results_dir: Path,
    run_id: str,
    *,
    console: Console | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> RunStatus:
    """Show a run until it has ended, and return its last status.

    On a terminal that is one screen; elsewhere a line for each change and for each trial that did
    not pass.

    Args:
        results_dir: The folder of runs.
        run_id: The run's id.
        console: Where to show it; stdout by default.
        wait: Called with the seconds between two looks.

    Raises:
        RequestError: There is no such run.
        StorageError: It cannot be read.
    """
    watched = Watched(results_dir, run_id)
    console = console or Console(highlight=False)
    if console.is_terminal:
        _on_one_screen(watched, console, wait)
    else:
        _in_lines(watched, wait)
    return watched.status


def _on_one_screen(watched: Watched, console: Console, wait: Callable[[float], None]) -> None:
    watched.look()
    with Live(
        screen_of(watched, console.height), console=console, auto_refresh=False, transient=True
    ) as live:
        while not watched.status.has_ended:
            wait(POLL_S)
            before = watched.status
            if watched.look() or watched.status != before:
                live.update(screen_of(watched, console.height), refresh=True)
    console.print(screen_of(watched, console.height))


def _in_lines(watched: Watched, wait: Callable[[float], None]) -> None:
    told = ""
    while True:
        for trial in watched.look():
            print(escape_controls(line_of(trial)), flush=True)
        status = watched.status
        line = "" if status.progress is None else counts_of(status.progress)
        if line and (line != told or status.has_ended):
            print(escape_controls("; ".join([line, *map(_score_line, watched.scores)])), flush=True)
        if status.has_ended:
            return
        told = line
        wait(POLL_S)


def screen_of(watched: Watched, height: int) -> RenderableType:
    """The whole screen, at most `height` lines high as long as no line is folded."""
    status, scores = watched.status, watched.scores
    parts: list[RenderableType] = [_text(f"Run {status.run_id}: {status.state}", "bold")]
    progress = status.progress
    if progress is not None:
        told = progress.message if progress.stage == "preparing" else counts_of(progress)
        parts.append(_text(f"{progress.stage}: {told}"))
        if progress.total:
            parts.append(ProgressBar(total=progress.total, completed=progress.done, width=60))
    if scores:
        parts.append(_table(scores))
    if watched.unreadable:
        parts.append(_text(f"{watched.unreadable} trials cannot be read by this version", "red"))
    room = max(3, height - len(parts) - len(scores) - 6)
    newest = list(watched.not_passed)[-room:]
    if newest:
        parts.append(_text("Trials that did not pass, the newest last:"))
        parts += [_text(line_of(trial), _STYLES[trial.outcome], whole=False) for trial in newest]
    return Group(*parts)


def line_of(trial: EndedTrial) -> str:
    """A trial that did not pass, in one line: how it ended, and of what."""
    why = f": {' '.join(trial.why.split())}" if trial.why else ""
    return f"{trial.label}: {trial.outcome}{why}"


def _table(scores: Sequence[RunningScore]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("agent", "domain", "tasks", "trials", "passed", "pass^1", "95 % interval"):
        table.add_column(name, justify="left" if name in ("agent", "domain") else "right")
    for score in scores:
        table.add_row(
            *map(_text, (score.participant, score.domain)),
            *(str(count) for count in (score.tasks, score.trials, score.passed)),
            score_range(score.pass_1, score.pass_1_high),
            "-"
            if score.interval is None
            else f"{score.interval.low:.3f} to {score.interval.high:.3f}",
        )
    return table


def _score_line(score: RunningScore) -> str:
    return f"{score.participant} in {score.domain}: {score.told or 'no score'}"


def _text(text: str, style: str = "", *, whole: bool = True) -> Text:
    """Text from outside, whose brackets are no markup; cut at the edge unless it must be whole."""
    return Text(
        escape_controls(text),
        style=style,
        no_wrap=not whole,
        overflow="fold" if whole else "ellipsis",
    )
