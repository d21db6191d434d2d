"""EvaluationExecutor: the workflow, and the conversation about it, behind A2A tasks."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from pathlib import Path

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskStore, TaskUpdater
from a2a.types import TaskState

from adk_agent.core.errors import GreenroomError, RequestError, RunCanceledError
from adk_agent.runs.tracking import request_cancel
from adk_agent.service.conversation import answering
from adk_agent.service.conversation.decisions import Answer, Cancel, Decision, Play, Refusal, decide
from adk_agent.service.conversation.history import PastTask, past_tasks
from adk_agent.service.conversation.intents import FollowUp, Intent, understand
from adk_agent.service.conversation.parsing import request_text
from adk_agent.service.conversation.progress import MIN_INTERVAL_S, ProgressReporter
from adk_agent.service.playing.backend import (
    Backend,
    BackendEndedError,
    Job,
    JobBrokeError,
    JobResult,
    PlanJob,
    RequestJob,
)
from adk_agent.service.task_updates import attach, begun, end

logger = logging.getLogger(__name__)

BROKE = "The assessor broke; see its log"
MAX_RUNNING = 256
"""Evaluations at once; further ones are refused for the time being."""
CANCEL_TIMEOUT_S = 10.0
"""Seconds for a canceled evaluation to write its report, before the task ends without it."""


@dataclass(kw_only=True)
class _Running:
    """An evaluation that a task waits for."""

    work: asyncio.Task[JobResult]
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the last event of the task is on its way."""


class EvaluationExecutor(AgentExecutor):
    """Answers each message with a task of its own: an evaluation, or a word about earlier ones.

    Every evaluation has a session, and a workflow, of its own; they share nothing but task data.

    Args:
        backend: Plays the evaluations; its owner opens and closes it.
        results_dir: Where runs are kept.
        task_store: Where follow-ups find the earlier tasks of their context.
    """

    def __init__(self, backend: Backend, results_dir: Path, task_store: TaskStore) -> None:
        self._backend = backend
        self._results_dir = results_dir
        self._task_store = task_store
        self._running: dict[str, _Running] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Do what the message asks for. The task ends completed, rejected, failed or canceled."""
        updater = await begun(context, event_queue)
        try:
            await self._answer(context, updater)
        except JobBrokeError:
            await end(updater, TaskState.TASK_STATE_FAILED, BROKE)
        except Exception:
            # What an exception says may hold anything, so the caller gets a fixed sentence.
            logger.exception("A2A task %s broke", updater.task_id)
            await end(updater, TaskState.TASK_STATE_FAILED, BROKE)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop the evaluation and wait for its end, so that the report is there with the state."""
        task_id = context.task_id or ""
        if not await self._stop(task_id) and context.current_task is not None:
            task = context.current_task
            await TaskUpdater(event_queue, task.id, task.context_id).cancel()

    async def _answer(self, context: RequestContext, updater: TaskUpdater) -> None:
        try:
            text = request_text(context.message)
        except RequestError as error:
            await _reject(updater, str(error))
            return
        follow_up = understand(text)
        if follow_up is None:
            await self._play(updater, RequestJob(text=text, session_id=updater.task_id))
            return
        await self._act(await self._decision(follow_up, text, context, updater), updater)

    async def _decision(
        self, follow_up: FollowUp, text: str, context: RequestContext, updater: TaskUpdater
    ) -> Decision:
        if follow_up.intent in (Intent.GREETING, Intent.HELP):
            return await decide(follow_up, text, (), self._results_dir)
        earlier = await past_tasks(
            self._task_store, updater.context_id, context.call_context, without=updater.task_id
        )
        named = set(context.message.reference_task_ids) if context.message is not None else set()
        meant = [task for task in earlier if task.task_id in named] or earlier
        return await decide(follow_up, text, meant, self._results_dir)

    async def _act(self, decision: Decision, updater: TaskUpdater) -> None:
        match decision:
            case Refusal():
                await end(updater, TaskState.TASK_STATE_REJECTED, decision.text)
            case Play():
                job = PlanJob(
                    plan=decision.plan,
                    request=decision.request,
                    session_id=updater.task_id,
                    resumed_run_id=decision.resumed_run_id,
                )
                await self._play(updater, job)
            case Cancel():
                lines = [await self._cancel_other(task) for task in decision.tasks]
                await end(updater, TaskState.TASK_STATE_COMPLETED, "\n".join(lines))
            case Answer():
                if decision.report_of is not None:
                    await self._add_report(decision.report_of, updater)
                await end(updater, TaskState.TASK_STATE_COMPLETED, decision.text)

    async def _play(self, updater: TaskUpdater, job: Job) -> None:
        if len(self._running) >= MAX_RUNNING:
            said = f"{MAX_RUNNING} evaluations are running, and there is no room for another: "
            await end(updater, TaskState.TASK_STATE_REJECTED, f"{said}ask again later")
            return
        await updater.start_work()
        reporter = ProgressReporter(updater)
        running = _Running(work=asyncio.create_task(self._backend.play(job, reporter.record)))
        self._running[updater.task_id] = running
        try:
            await _follow(running.work, reporter)
            await self._conclude(running.work, reporter, updater)
        finally:
            del self._running[updater.task_id]
            running.ended.set()

    async def _conclude(
        self, work: asyncio.Task[JobResult], reporter: ProgressReporter, updater: TaskUpdater
    ) -> None:
        try:
            result = None if work.cancelled() else work.result()
        except BackendEndedError as error:
            await self._conclude_lost(error, reporter, updater)
            return
        canceled = RunCanceledError.exit_code
        problem = result.problem if result is not None else None
        if result is None or (problem is not None and problem.exit_code == canceled):
            await self._conclude_canceled(reporter, updater)
        elif problem is not None and problem.exit_code == RequestError.exit_code:
            await _reject(updater, problem.message)
        else:
            await _conclude_result(result, updater)

    async def _conclude_lost(
        self, error: BackendEndedError, reporter: ProgressReporter, updater: TaskUpdater
    ) -> None:
        progress = reporter.last
        parts = None if progress is None else await self._backend.rebuilt_parts(progress.run_id)
        said = f"The evaluation did not finish: {error}."
        if progress is not None and parts is not None:
            await attach(updater, parts)
            said += (
                f" The trials that were finished are attached, and kept as run {progress.run_id}: "
                "say 'resume' to play the rest."
            )
        await end(updater, TaskState.TASK_STATE_FAILED, said)

    async def _conclude_canceled(self, reporter: ProgressReporter, updater: TaskUpdater) -> None:
        progress = reporter.last
        attached = progress is not None and await self._add_report(progress.run_id, updater)
        said = "The evaluation was canceled; nothing had been played."
        if progress is not None and attached:
            said = (
                f"The evaluation was canceled after {progress.done} of {progress.total} trials. "
                f"They are attached, and kept as run {progress.run_id}: say 'resume' to play the rest."
            )
        await end(updater, TaskState.TASK_STATE_CANCELED, said)

    async def _add_report(self, run_id: str, updater: TaskUpdater) -> bool:
        """Add what a run came to as the task's artifact; whether there was anything to add."""
        parts = await self._backend.report_parts(run_id)
        if parts is None:
            return False
        await attach(updater, parts)
        return True

    async def _cancel_other(self, task: PastTask) -> str:
        """Cancel an earlier task, whichever process plays it; says in words what became of it."""
        name = f"run {task.run_id}" if task.run_id else f"task {task.task_id}"
        kept = "What was finished is kept; say 'resume' to go on."
        if await self._stop(task.task_id):
            return f"Canceled: {name}. {kept}"
        if task.run_id is None:
            return f"Not canceled: {name} is not played by this process."
        try:
            await asyncio.to_thread(request_cancel, self._results_dir, task.run_id)
        except GreenroomError as error:
            return f"Not canceled: {error}."
        return f"Asked to stop: {name}. {kept}"

    async def _stop(self, task_id: str) -> bool:
        """Cancel a task's evaluation and wait for its end; False where none of this process runs."""
        running = self._running.get(task_id)
        if running is None:
            return False
        running.work.cancel()
        try:
            async with asyncio.timeout(CANCEL_TIMEOUT_S):
                await running.ended.wait()
        except TimeoutError:
            logger.warning("task %s did not end within %g s", task_id, CANCEL_TIMEOUT_S)
            return False
        return True


async def _follow(work: asyncio.Task[JobResult], reporter: ProgressReporter) -> None:
    """Publish progress until the work is done. When this is cancelled the work is, to its end."""
    begun = asyncio.create_task(reporter.has_begun.wait())
    try:
        await asyncio.wait({work, begun}, return_when=asyncio.FIRST_COMPLETED)
        await reporter.flush()
        while not work.done():
            await asyncio.wait({work}, timeout=MIN_INTERVAL_S)
            await reporter.flush()
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work}, timeout=CANCEL_TIMEOUT_S)
        raise
    finally:
        begun.cancel()


async def _conclude_result(result: JobResult, updater: TaskUpdater) -> None:
    if result.parts is not None:
        await attach(updater, result.parts)
    if result.problem is not None or result.run_id is None:
        said = result.problem.message if result.problem is not None else "no evaluation was run"
    elif result.mostly_broke:
        said = (
            f"{result.broken} of {result.trials} trials failed by faults that say nothing about "
            "the agent, so there is no result to rely on. The report names them; say 'resume' to "
            "play those again."
        )
    else:
        await updater.complete()
        return
    await end(updater, TaskState.TASK_STATE_FAILED, said)


async def _reject(updater: TaskUpdater, why: str) -> None:
    await end(updater, TaskState.TASK_STATE_REJECTED, f"{why}\n\n{answering.WHAT_TO_SEND}")
