"""Words about runs: how far they are, and which trials did not pass. Pure, and escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adk_agent.core.errors import RequestError
from adk_agent.core.escaping import escape_markdown, one_line
from adk_agent.requests.agents import agent_key
from adk_agent.results.progress import Progress
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import TrialRow, by_frequency
from adk_agent.results.tables import Table
from adk_agent.runs.tracking import RunStatus

MOST_LISTED = 20
"""Trials in one answer; the report has them all."""
_MOST_CHARS = 300
"""The limit of one reason, which agents write."""
STARTING = "The evaluation is being prepared; nothing was played yet."
_USUAL_ENDS = ("user_stop", "agent_stop", "answered")


def short(text: str, most_chars: int = _MOST_CHARS) -> str:
    """Return a text from outside on one line, escaped, and cut where it is long."""
    return one_line(escape_markdown(text), most_chars)


def table_of(table: Table) -> str:
    """Return a markdown table."""
    header, rows = table
    return "\n".join([_cells(header), _cells("---" for _ in header), *map(_cells, rows)])


def _cells(cells: Iterable[str]) -> str:
    shown = (escape_markdown(" ".join(cell.split())).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 trial`, `2 trials`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def progress_line(progress: Progress) -> str:
    """Return progress in words: `trial 3 of 10, 2 passed, about 40 s left`."""
    if progress.stage == "preparing":
        return f"preparing: {progress.message}"
    text = f"trial {progress.done} of {progress.total}, {progress.passed} passed"
    gaps = ((progress.unscored, "unscored"), (progress.failed, "failed"))
    text += "".join(f", {count} {what}" for count, what in gaps if count)
    if progress.stage == "playing" and progress.seconds_left is not None:
        left = progress.seconds_left
        text += f", about {left:.0f} s left" if left < 120 else f", about {left / 60:.0f} min left"
    return text


def status_line(status: RunStatus) -> str:
    """Return in one sentence how far a run is."""
    progress = status.progress
    if status.state == "running":
        how_far = STARTING if progress is None else f"{progress_line(progress)}."
        return f"Run {status.run_id} is running: {how_far}"
    counts = ""
    if progress is not None:
        counts = (
            f": {progress.done} of {progress.total} trials played, {progress.passed} passed, "
            f"{progress.scored - progress.passed} not passed, {progress.unscored} unscored, "
            f"{progress.failed} failed"
        )
    why = f" ({short(status.problem)})" if status.problem and status.state != "canceled" else ""
    return f"Run {status.run_id} is {status.state}{counts}{why}."


def is_failure(row: TrialRow) -> bool:
    """Tell whether a trial broke, or was scored and did not pass."""
    return row.status == "failed" or (row.status == "scored" and not row.passed)


def of_agent(agent: str | None, rows: Sequence[TrialRow], status: RunStatus) -> Sequence[TrialRow]:
    """Return the trials of one agent of a run; None: all.

    Raises:
        RequestError: The run has no such agent.
    """
    if agent is None or not rows:
        return rows
    key = agent_key(agent)
    found = [row for row in rows if agent_key(row.participant) == key]
    if found:
        return found
    known = ", ".join(sorted({short(row.participant) for row in rows}))
    raise RequestError(f"{short(agent)} is no agent of run {status.run_id}, which has {known}.")


def failures(status: RunStatus, rows: Sequence[TrialRow]) -> str:
    """List the trials that broke or did not pass, one a line, after a line that counts them."""
    lost = [row for row in rows if is_failure(row)]
    unscored = sum(row.status == "unscored" for row in rows)
    broken = sum(row.status == "failed" for row in lost)
    if len(rows) == 1:
        played = f"The one finished trial of run {status.run_id}"
        none = f"{played} did not fail"
        some = f"{played} {'failed' if broken else 'did not pass'}"
    else:
        played = f"{len(rows)} finished trials of run {status.run_id}"
        none = f"None of the {played} failed"
        some = f"Of the {played}, {len(lost) - broken} did not pass and {broken} failed"
    if not lost:
        also = f"; {unscored} could not be scored" if unscored else ""
        return f"{none}{also}{_so_far(status)}."
    head = f"{some}{_so_far(status)}:"
    lines = [f"- {short(row.label)}: {outcome(row)}" for row in lost[:MOST_LISTED]]
    if len(lost) > MOST_LISTED:
        lines.append(f"- ... and {len(lost) - MOST_LISTED} more, in the report")
    return "\n".join([head, "", *lines])


def _so_far(status: RunStatus) -> str:
    return "" if status.has_ended else " (it is still running)"


def outcome(row: TrialRow) -> str:
    """Return how a trial ended, with its class of failure and the reasons."""
    kind = f" ({row.diagnosis.kind})" if row.diagnosis is not None else ""
    return f"{row.outcome}{kind}: {'; '.join(reasons_of(row))}"


def reasons_of(row: TrialRow) -> list[str]:
    """Return a trial's reasons: what broke it, its diagnosis, or the components at 0."""
    if row.fault is not None or row.status == "failed":
        return [short(row.reason or row.termination)]
    if row.diagnosis is not None:
        return [short(row.diagnosis.summary)]
    missed = [name for name in row.basis if row.reward_breakdown.get(name) == 0]
    found = [f"{name} is 0{_unmet(row, name)}" for name in missed]
    if row.termination not in _USUAL_ENDS:
        found.append(f"the conversation ended by {row.termination}")
    return found or ["its reward is below 1"]


def _unmet(row: TrialRow, name: str) -> str:
    checks = [
        check
        for component in row.components
        if component.name == name
        for check in component.checks
        if check.met is False
    ]
    return f" (not met: {short(checks[0].description)})" if checks else ""


def agents_of(report: EvaluationReport) -> str:
    """Return the agents of a run in words."""
    named = [escape_markdown(each.address) for each in report.plan.participants]
    return ", ".join(named)


def most_frequent(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Return texts with how often they occur, the most frequent first."""
    return list(by_frequency(texts).items())
