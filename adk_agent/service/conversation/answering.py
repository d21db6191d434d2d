"""Answers in words to questions about runs. Pure: everything that they tell is handed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from adk_agent.core.escaping import escape_markdown, one_line
from adk_agent.results.progress import Progress
from adk_agent.results.summary import TrialRow
from adk_agent.runs.tracking import RunStatus
from adk_agent.service.conversation.replay import is_failure

MOST_LISTED = 20
"""Trials in one answer; the report has them all."""
_MOST_CHARS = 300
"""The limit of one reason, which agents write."""

WHAT_TO_SEND = (
    "Send a sentence such as 'Evaluate the agent at http://localhost:9010 on five <domain> tasks', "
    'or JSON: {"participants": {"agent": "http://..."}, "config": {"domain": "<domain>"}}. Without '
    "a domain it is answered with those that there are."
)
GREETING = (
    f"Hello. I evaluate A2A agents on the tasks of benchmarks. {WHAT_TO_SEND} Ask 'help' for more."
)
HELP = (
    f"I evaluate A2A agents on the tasks of benchmarks and report exact rewards. {WHAT_TO_SEND} To "
    "try it without an agent of your own: 'Evaluate builtin:echo on two <domain> tasks'. While it "
    "runs, and afterwards, ask in the same context: 'status?', 'show the failures', 'why did they fail?', "
    "'show the report', 'run the failed ones again', 'run it again', 'resume', 'cancel it'."
)
NOTHING_YET = (
    f"There is no evaluation in this conversation yet. {WHAT_TO_SEND} Follow-ups are understood in "
    "the same context: send the context id of the evaluation along."
)
STARTING = "The evaluation is being prepared; nothing was played yet."


def progress_line(progress: Progress) -> str:
    """Progress in words: `trial 3 of 10, 2 passed, about 40 s left`."""
    if progress.stage == "preparing":
        return f"preparing: {progress.message}"
    said = f"trial {progress.done} of {progress.total}, {progress.passed} passed"
    gaps = ((progress.unscored, "unscored"), (progress.failed, "failed"))
    said += "".join(f", {count} {what}" for count, what in gaps if count)
    if progress.stage == "playing" and progress.seconds_left is not None:
        left = progress.seconds_left
        said += f", about {left:.0f} s left" if left < 120 else f", about {left / 60:.0f} min left"
    return said


def status_line(status: RunStatus) -> str:
    """Say in one sentence where a run stands."""
    progress = status.progress
    if status.state == "running":
        told = STARTING if progress is None else progress_line(progress)
        return f"Run {status.run_id} is running: {told}"
    counts = ""
    if progress is not None:
        counts = (
            f": {progress.done} of {progress.total} trials played, {progress.passed} passed, "
            f"{progress.scored - progress.passed} not passed, {progress.unscored} unscored, "
            f"{progress.failed} failed"
        )
    why = f" ({_short(status.problem)})" if status.problem and status.state != "canceled" else ""
    return f"Run {status.run_id} is {status.state}{counts}{why}."


def failures(status: RunStatus, rows: Sequence[TrialRow]) -> str:
    """List the trials that broke or did not pass, one a line, after a line that counts them."""
    lost = [row for row in rows if is_failure(row)]
    unscored = sum(row.status == "unscored" for row in rows)
    played = f"{len(rows)} finished trials of run {status.run_id}"
    if not lost:
        also = f"; {unscored} could not be scored" if unscored else ""
        return f"None of the {played} failed{also}.{_so_far(status)}"
    broken = sum(row.status == "failed" for row in lost)
    head = (
        f"Of the {played}, {len(lost) - broken} did not pass and {broken} failed{_so_far(status)}"
    )
    lines = [
        f"- {_short(row.label)}: {row.status}; {'; '.join(_reasons(row))}"
        for row in lost[:MOST_LISTED]
    ]
    if len(lost) > MOST_LISTED:
        lines.append(f"- ... and {len(lost) - MOST_LISTED} more, in the report")
    return "\n".join([f"{head.rstrip('.')}:", *lines])


def reasons(status: RunStatus, rows: Sequence[TrialRow]) -> str:
    """List why trials failed or did not pass, the most frequent reason first."""
    counts = Counter(reason for row in rows if is_failure(row) for reason in _reasons(row))
    if not counts:
        if status.problem is not None and not rows:
            return f"Run {status.run_id} is {status.state}: {_short(status.problem)}"
        return failures(status, rows)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    lines = [f"- {count} x {reason}" for reason, count in ordered[:MOST_LISTED]]
    head = f"What is behind the trials of run {status.run_id} that failed or did not pass:"
    return "\n".join([head, *lines])


def _so_far(status: RunStatus) -> str:
    return "" if status.has_ended else " (it is still running)"


def _reasons(row: TrialRow) -> list[str]:
    """Return a trial's reasons: what broke it, or the components at 0 with the checks it missed."""
    if row.fault is not None or row.status == "failed":
        return [_short(row.reason or row.termination)]
    missed = [name for name in row.basis if row.reward_breakdown.get(name) == 0]
    found = [f"{name} is 0{_unmet(row, name)}" for name in missed]
    if row.termination not in ("user_stop", "agent_stop", "answered"):
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
    return f" (not met: {_short(checks[0].description)})" if checks else ""


def _short(text: str) -> str:
    """Text from outside on one line, without control characters or markup, cut off where it is long."""
    return one_line(escape_markdown(text), _MOST_CHARS)
