"""decide: what is to be done about a follow-up. Reads runs from disk, and does nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adk_agent.core.errors import RequestError, StorageError
from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.summary import TrialRow
from adk_agent.runs.store import load_manifest, load_report, load_trials
from adk_agent.runs.tracking import RunStatus, read_status
from adk_agent.service.conversation import answering
from adk_agent.service.conversation.history import PastTask
from adk_agent.service.conversation.intents import FollowUp, Intent
from adk_agent.service.conversation.replay import plan_of_failed


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Words, and where `report_of` names a run, its report beside them."""

    text: str
    report_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The answer to what cannot be done; `text` says why and what can."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Play:
    """A plan is to be played: as a new run, or the rest of `resumed_run_id`."""

    plan: EvaluationPlan
    request: str
    resumed_run_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Cancel:
    """These tasks are to be canceled."""

    tasks: tuple[PastTask, ...]


Decision = Answer | Refusal | Play | Cancel


async def decide(
    follow_up: FollowUp, text: str, earlier: Sequence[PastTask], results_dir: Path
) -> Decision:
    """Decide what to do about a follow-up.

    Args:
        follow_up: As it was understood.
        text: As it was said; a new run keeps it as its request.
        earlier: The evaluations of the conversation; the first is meant unless a run is named.
        results_dir: Where runs are kept.
    """
    if follow_up.intent is Intent.GREETING:
        return Answer(text=answering.GREETING)
    if follow_up.intent is Intent.HELP:
        return Answer(text=answering.HELP)
    meant = [e for e in earlier if follow_up.run_id in (None, e.run_id)]
    if not meant:
        return _nothing_meant(follow_up)
    if follow_up.intent is Intent.CANCEL:
        return _cancel(follow_up, meant)
    try:
        if follow_up.intent is Intent.STATUS:
            return await asyncio.to_thread(_status, meant, results_dir)
        return await asyncio.to_thread(_about_run, follow_up.intent, text, meant[0], results_dir)
    except (RequestError, StorageError) as error:
        return Refusal(text=str(error))


def _nothing_meant(follow_up: FollowUp) -> Decision:
    if follow_up.run_id is not None:
        return Refusal(
            text=f"Run {follow_up.run_id} does not belong to this conversation. Ask in the context "
            "of its evaluation, or without its id for the latest one here."
        )
    asks = {Intent.STATUS, Intent.FAILURES, Intent.REASONS, Intent.REPORT}
    text = answering.NOTHING_YET
    return Answer(text=text) if follow_up.intent in asks else Refusal(text=text)


def _cancel(follow_up: FollowUp, meant: Sequence[PastTask]) -> Decision:
    running = [task for task in meant if not task.has_ended]
    if not running:
        return Refusal(text="Nothing is running in this conversation that could be canceled.")
    return Cancel(tasks=tuple(running if follow_up.everything else running[:1]))


def _status(meant: Sequence[PastTask], results_dir: Path) -> Decision:
    running = [task for task in meant if not task.has_ended]
    return Answer(text="\n".join(_line(task, results_dir) for task in running or meant[:1]))


def _line(task: PastTask, results_dir: Path) -> str:
    if task.run_id is None:
        return answering.STARTING
    return answering.status_line(read_status(results_dir, task.run_id))


def _about_run(intent: Intent, text: str, task: PastTask, results_dir: Path) -> Decision:
    if task.run_id is None:
        return Answer(text=answering.STARTING)
    status = read_status(results_dir, task.run_id)
    if intent is Intent.FAILURES:
        return Answer(text=answering.failures(status, _rows(results_dir, task.run_id)))
    if intent is Intent.REASONS:
        return Answer(text=answering.reasons(status, _rows(results_dir, task.run_id)))
    if intent is Intent.REPORT:
        return _report(status, results_dir)
    if not status.has_ended:
        return Refusal(
            text=f"{answering.status_line(status)}. Wait until it is over, or say 'cancel it' first."
        )
    if intent is Intent.RESUME:
        return _resume(status, text, results_dir)
    return _again(intent, text, status, results_dir)


def _report(status: RunStatus, results_dir: Path) -> Decision:
    line = answering.status_line(status)
    if not status.has_ended:
        return Answer(text=f"{line}. Its report comes when it is over.")
    try:
        load_report(results_dir, status.run_id)
    except StorageError:
        return Answer(text=f"{line} There is no report of it.")
    return Answer(text=line, report_of=status.run_id)


def _resume(status: RunStatus, text: str, results_dir: Path) -> Decision:
    if status.state == "complete":
        return Answer(
            text=f"{answering.status_line(status)} Nothing of it is missing; say 'run it again' "
            "for another run."
        )
    plan = _plan(status, results_dir)
    return Play(plan=plan, request=text, resumed_run_id=status.run_id)


def _again(intent: Intent, text: str, status: RunStatus, results_dir: Path) -> Decision:
    plan = _plan(status, results_dir)
    request = f"{text.strip()} (run {status.run_id})"
    if intent is Intent.REPEAT:
        return Play(plan=plan, request=request)
    rows = _rows(results_dir, status.run_id)
    again = plan_of_failed(plan, rows, run_id=status.run_id)
    if again is None:
        return Answer(text=answering.failures(status, rows))
    return Play(plan=again, request=request)


def _plan(status: RunStatus, results_dir: Path) -> EvaluationPlan:
    try:
        return load_manifest(results_dir, status.run_id).plan
    except StorageError:
        raise RequestError(
            f"{answering.status_line(status)} Nothing was played, so send the request again."
        ) from None


def _rows(results_dir: Path, run_id: str) -> list[TrialRow]:
    """Return the finished trials of a run; none where nothing was played."""
    try:
        load_manifest(results_dir, run_id)
    except StorageError:
        return []
    return [record.row for record in load_trials(results_dir, run_id)]
