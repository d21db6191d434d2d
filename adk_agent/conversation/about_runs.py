"""Answers about runs: how far they are, what came out, what failed, and how two of them differ."""

from __future__ import annotations

from collections.abc import Sequence

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.meant import described, two_runs
from adk_agent.conversation.replies import Answer, Asked, CancelRuns, Refused
from adk_agent.conversation.telling import status_line, table_of
from adk_agent.conversation.turn import Turn
from adk_agent.core.errors import RequestError, StorageError
from adk_agent.core.escaping import escape_markdown
from adk_agent.requests.intent import Cancel, Compare, Question, Status
from adk_agent.results.causes import cause_lines
from adk_agent.results.comparison import compare_runs
from adk_agent.results.comparison_text import summary
from adk_agent.results.headlines import HeadlineRow
from adk_agent.results.meaning import meaning_lines
from adk_agent.results.pair_text import pair_lines, pair_notes, pair_table
from adk_agent.results.summary import TrialRow
from adk_agent.results.tables import headline_table, score_table, without_the_usual
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import MANIFEST, REPORT, TRIALS, iter_trials
from adk_agent.runs.tracking import RunStatus, read_status


def rows_of(status: RunStatus, deps: ConversationDeps) -> list[TrialRow]:
    """Return the trials of a run that ended; none if nothing was played.

    Raises:
        StorageError: They cannot be read.
    """
    folder = deps.results_dir / status.run_id
    if not (folder / MANIFEST).exists() or not (folder / TRIALS).exists():
        return []
    return [record.row for record in iter_trials(deps.results_dir, status.run_id)]


def statuses(intent: Status, run_id: str, turn: Turn) -> Answer:
    """Say how far the conversation's running evaluations are, or the one that is meant."""
    meant = [run_id]
    if intent.run_id is None:
        running = [each for each in turn.situation.run_ids if not _status(each, turn).has_ended]
        meant = running or meant
    return Answer(text="\n".join(_status_lines(_status(each, turn)) for each in meant))


def _status(run_id: str, turn: Turn) -> RunStatus:
    return read_status(turn.deps.results_dir, run_id)


def _status_lines(status: RunStatus) -> str:
    lines = [status_line(status)]
    progress = status.progress
    if progress is not None and not status.has_ended:
        lines += [
            f"- so far: {score.participant} in {score.domain}: {score.summary} over {score.tasks} tasks"
            for score in progress.scores
            if score.summary
        ]
    return "\n".join(lines)


def results(status: RunStatus, deps: ConversationDeps) -> Answer:
    """Return the scores of a run as a table, with what they mean."""
    try:
        _, report = results_so_far(deps.results_dir, status.run_id)
    except StorageError as error:
        if (deps.results_dir / status.run_id / MANIFEST).exists():
            raise
        return Answer(text=f"{error}.")
    if not report.trials:
        return Answer(text=status_line(status))
    parts = [
        status_line(status),
        table_of(without_the_usual(score_table([*report.summary, *report.overall]))),
        *_headlines(report.headlines),
    ]
    parts.append(_listed([*meaning_lines(report), *cause_lines(report)]))
    if len(report.pairs) == 1:
        parts.append(_listed(pair_lines(report.pairs, stopped_by=report.stopped_by)))
    elif report.pairs:
        notes = pair_notes(report.pairs, stopped_by=report.stopped_by)
        parts += [table_of(pair_table(report.pairs)), " ".join(notes)]
    whole = status.has_ended and (deps.results_dir / status.run_id / REPORT).exists()
    return Answer(text="\n\n".join(parts), report_of=status.run_id if whole else None)


def _listed(lines: Sequence[str]) -> str:
    return "\n".join(f"- {escape_markdown(line)}" for line in lines)


def _headlines(rows: Sequence[HeadlineRow]) -> list[str]:
    return [table_of(without_the_usual(headline_table(rows)))] if rows else []


def canceled(intent: Cancel, run_id: str, turn: Turn) -> CancelRuns | Refused:
    """Return the runs to cancel: the one that is meant, else the latest that is running."""
    candidates = [run_id] if intent.run_id is not None else list(turn.situation.run_ids) or [run_id]
    running = [each for each in candidates if not _status(each, turn).has_ended]
    if not running:
        return Refused(text="Nothing is running in this conversation that could be canceled.")
    return CancelRuns(run_ids=tuple(running if intent.everything else running[:1]))


def compared(intent: Compare, turn: Turn) -> Answer | Asked:
    """Compare two runs, paired by task.

    Raises:
        RequestError: There are no two runs, or they have nothing in common.
        StorageError: A run cannot be read.
    """
    ids, offered = two_runs(intent.run_ids, turn.situation, turn.deps)
    if offered and not turn.confirmed:
        runs = "\n".join(f"- {described(each, turn.deps)}" for each in ids)
        question = f"No two runs are named. The newest are:\n\n{runs}\n\nDo you mean these?"
        waiting = Compare(run_ids=ids)
        return Asked(question=Question(text=question, waiting=waiting, request=turn.text))
    first, second = (results_so_far(turn.deps.results_dir, each)[1] for each in ids)
    if not first.trials or not second.trials:
        raise RequestError(
            "One of the two runs has no trial that ended, so nothing can be compared."
        )
    head, *lines = filter(None, summary(compare_runs(first, second)).splitlines())
    listed = "\n".join(_as_markdown(escape_markdown(line)) for line in lines)
    return Answer(text=f"{head}:\n\n{listed}")


def _as_markdown(line: str) -> str:
    if line.startswith("  "):
        return f"    - {line.strip()}"
    return f"- {line}"
