"""EvaluationExecutor: the workflow, and the conversation about it, behind A2A tasks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from a2a.helpers import new_task, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskStore, TaskUpdater
from a2a.types import Message, Part, TaskState

from adk_agent.conversation import answering, artifacts
from adk_agent.conversation.decisions import Answer, Cancel, Decision, Play, Refusal, decide
from adk_agent.conversation.earlier import EarlierTask, earlier_tasks
from adk_agent.conversation.incoming import request_text
from adk_agent.conversation.routing import FollowUpContexts
from adk_agent.conversation.telling import MIN_INTERVAL_S, ProgressTeller
from adk_agent.conversation.understanding import FollowUp, Intent, understand
from adk_agent.errors import GreenroomError, RequestError, RunCanceledError
from adk_agent.evaluation import report_so_far
from adk_agent.plan import Overrides
from adk_agent.progress import Progress
from adk_agent.report import EvaluationReport
from adk_agent.runs import load_report
from adk_agent.second_loop import SecondLoop
from adk_agent.session import Tell, WorkflowResult, run_plan, run_request
from adk_agent.tracking import checked_run_id, read_status, request_cancel

if TYPE_CHECKING:
    from adk_agent.assembly import Assembly

logger = logging.getLogger(__name__)

BROKE = "The assessor broke; see its log"
MAX_RUNNING = 256
"""Evaluations at once; whoever asks for more is told to come back."""
CANCEL_TIMEOUT_S = 10.0
"""How long a canceled evaluation may take to write its report, before the task ends without it."""

Work = Callable[[Tell], Awaitable[WorkflowResult]]


def build_executor(
    assembly: Assembly,
    task_store: TaskStore,
    *,
    own_addresses: Collection[str] = (),
    second_loop: SecondLoop | None = None,
) -> EvaluationExecutor:
    """The executor of the service.

    Args:
        assembly: What evaluations are made of.
        task_store: Where follow-ups find the earlier tasks of their context.
        own_addresses: Where the service itself is reached; it does not assess itself.
        second_loop: Where evaluations are played; None: in the loop that serves requests.
    """
    return EvaluationExecutor(
        assembly, task_store, own_addresses=own_addresses, second_loop=second_loop
    )


def build_request_contexts(task_store: TaskStore) -> FollowUpContexts:
    """What goes with the executor into a2a-sdk's handler, as its `request_context_builder`.

    Without it, a follow-up that names a running task waits until that is over, and one that names
    a finished task is refused; those that name the context alone are answered either way.
    """
    return FollowUpContexts(task_store)


async def interrupted_artifact(assembly: Assembly, run_id: str) -> list[Part] | None:
    """The parts of a finished evaluation's artifact, for a run whose process is gone.

    Writes the report of the finished trials into the run's folder, unless it had ended before.

    Returns:
        None where nothing was played, the run is being played, or its folder cannot be read.
    """
    results_dir = assembly.settings.results_dir
    try:
        status = read_status(results_dir, checked_run_id(run_id))
        if status.state in ("complete", "incomplete"):
            report = load_report(results_dir, run_id)
        else:
            report = await report_so_far(run_id, assembly.evaluation_deps())
    except GreenroomError as error:
        logger.info("run %s has no report: %s", run_id, error)
        return None
    return artifacts.report_parts(report) if report.trials else None


@dataclass(kw_only=True)
class _Running:
    """An evaluation that a task waits for."""

    work: asyncio.Task[WorkflowResult]
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the last event of the task is on its way."""


class EvaluationExecutor(AgentExecutor):
    """Answers each message with a task of its own: an evaluation, or a word about earlier ones.

    Every evaluation has a session, and a workflow, of its own; they share nothing but task data.
    See `build_executor` for the arguments.
    """

    def __init__(
        self,
        assembly: Assembly,
        task_store: TaskStore,
        *,
        own_addresses: Collection[str] = (),
        second_loop: SecondLoop | None = None,
    ) -> None:
        self._assembly = assembly
        self._results_dir = assembly.settings.results_dir
        self._task_store = task_store
        self._own_addresses = own_addresses
        self._second_loop = second_loop
        self._running: dict[str, _Running] = {}

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Do what the message asks for. The task ends completed, rejected, failed or canceled."""
        message = context.message
        if message is None:
            msg = "an A2A request without a message reached the executor"
            raise ValueError(msg)
        task = context.current_task
        if task is None:
            state = TaskState.TASK_STATE_SUBMITTED
            task = new_task(message.task_id, message.context_id, state, history=[message])
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        try:
            await self._answer(context, message, updater)
        except Exception:
            # What an exception says may hold anything, so the caller gets a fixed sentence.
            logger.exception("A2A task %s broke", task.id)
            await _end(updater, TaskState.TASK_STATE_FAILED, BROKE)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop the evaluation and wait for its end, so that the report is there with the state."""
        task_id = context.task_id or ""
        if not await self._stop(task_id) and context.current_task is not None:
            task = context.current_task
            await TaskUpdater(event_queue, task.id, task.context_id).cancel()

    async def _answer(
        self, context: RequestContext, message: Message, updater: TaskUpdater
    ) -> None:
        try:
            text = request_text(message)
        except RequestError as error:
            await _reject(updater, str(error))
            return
        follow_up = understand(text)
        if follow_up is None:
            await self._play(updater, self._evaluation(text, updater.task_id))
            return
        await self._act(await self._decision(follow_up, text, context, updater), updater)

    async def _decision(
        self, follow_up: FollowUp, text: str, context: RequestContext, updater: TaskUpdater
    ) -> Decision:
        if follow_up.intent in (Intent.GREETING, Intent.HELP):
            return await decide(follow_up, text, (), self._results_dir)
        earlier = await earlier_tasks(
            self._task_store, updater.context_id, context.call_context, without=updater.task_id
        )
        named = set(context.message.reference_task_ids) if context.message is not None else set()
        meant = [task for task in earlier if task.task_id in named] or earlier
        return await decide(follow_up, text, meant, self._results_dir)

    async def _act(self, decision: Decision, updater: TaskUpdater) -> None:
        match decision:
            case Refusal():
                await _end(updater, TaskState.TASK_STATE_REJECTED, decision.text)
            case Play():
                await self._play(updater, self._planned(decision, updater.task_id))
            case Cancel():
                await self._cancel_others(decision.tasks, updater)
            case Answer():
                if decision.report_of is not None:
                    await self._add_report(decision.report_of, updater)
                await _end(updater, TaskState.TASK_STATE_COMPLETED, decision.text)

    def _evaluation(self, text: str, session_id: str) -> Work:
        def work(tell: Tell) -> Awaitable[WorkflowResult]:
            return run_request(
                self._assembly.root_agent(),
                text,
                overrides=Overrides(),
                on_progress=tell,
                session_id=session_id,
                own_addresses=self._own_addresses,
            )

        return work

    def _planned(self, decision: Play, session_id: str) -> Work:
        def work(tell: Tell) -> Awaitable[WorkflowResult]:
            return run_plan(
                self._assembly.root_agent(),
                decision.plan,
                request=decision.request,
                on_progress=tell,
                session_id=session_id,
                resumed_run_id=decision.resumed_run_id,
            )

        return work

    async def _play(self, updater: TaskUpdater, work: Work) -> None:
        if len(self._running) >= MAX_RUNNING:
            said = f"{MAX_RUNNING} evaluations are running, and there is no room for another: "
            await _end(updater, TaskState.TASK_STATE_REJECTED, f"{said}ask again later")
            return
        await updater.start_work()
        teller = ProgressTeller(updater)
        running = _Running(work=asyncio.create_task(self._played(work, teller.hear)))
        self._running[updater.task_id] = running
        try:
            await _follow(running.work, teller)
            await self._conclude(running.work, teller, updater)
        finally:
            del self._running[updater.task_id]
            running.ended.set()

    async def _played(self, work: Work, tell: Tell) -> WorkflowResult:
        """What the work comes to, wherever it is done."""
        if self._second_loop is None:
            return await work(tell)
        here = asyncio.get_running_loop()

        async def tell_here(progress: Progress) -> None:
            told = asyncio.run_coroutine_threadsafe(_awaited(tell(progress)), here)
            await asyncio.wrap_future(told)

        return await self._second_loop.run(lambda: work(tell_here))

    async def _conclude(
        self, work: asyncio.Task[WorkflowResult], teller: ProgressTeller, updater: TaskUpdater
    ) -> None:
        canceled = RunCanceledError.exit_code
        result = None if work.cancelled() else work.result()
        problem = result.problem if result is not None else None
        if result is None or (problem is not None and problem.exit_code == canceled):
            await self._conclude_canceled(teller, updater)
        elif problem is not None and problem.exit_code == RequestError.exit_code:
            await _reject(updater, problem.message)
        elif problem is not None or result.run_id is None:
            if result.run_id is not None:
                await self._add_report(result.run_id, updater)
            said = problem.message if problem is not None else "no evaluation was run"
            await _end(updater, TaskState.TASK_STATE_FAILED, said)
        else:
            report = await asyncio.to_thread(load_report, self._results_dir, result.run_id)
            await _conclude_played(report, result.interpretation, updater)

    async def _conclude_canceled(self, teller: ProgressTeller, updater: TaskUpdater) -> None:
        progress = teller.last
        attached = progress is not None and await self._add_report(progress.run_id, updater)
        said = "The evaluation was canceled; nothing had been played."
        if progress is not None and attached:
            said = (
                f"The evaluation was canceled after {progress.done} of {progress.total} trials. "
                f"They are attached, and kept as run {progress.run_id}: say 'resume' to play the rest."
            )
        await _end(updater, TaskState.TASK_STATE_CANCELED, said)

    async def _add_report(self, run_id: str, updater: TaskUpdater) -> bool:
        """Add what a run came to as the task's artifact; whether there was anything to add."""
        parts = await asyncio.to_thread(artifacts.parts_of_run, self._results_dir, run_id)
        if parts is None:
            return False
        await updater.add_artifact(parts, name=artifacts.NAME)
        return True

    async def _cancel_others(self, tasks: Collection[EarlierTask], updater: TaskUpdater) -> None:
        lines = [await self._cancel_other(task) for task in tasks]
        await _end(updater, TaskState.TASK_STATE_COMPLETED, "\n".join(lines))

    async def _cancel_other(self, task: EarlierTask) -> str:
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


async def _awaited(told: Awaitable[None]) -> None:
    await told


async def _follow(work: asyncio.Task[WorkflowResult], teller: ProgressTeller) -> None:
    """Publish progress until the work is done. When this is cancelled the work is, to its end."""
    try:
        while not work.done():
            await asyncio.wait({work}, timeout=MIN_INTERVAL_S)
            await teller.flush()
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.wait({work}, timeout=CANCEL_TIMEOUT_S)
        raise


async def _conclude_played(
    report: EvaluationReport, prose: str | None, updater: TaskUpdater
) -> None:
    parts = await asyncio.to_thread(artifacts.report_parts, report, prose)  # large ones take time
    await updater.add_artifact(parts, name=artifacts.NAME)
    if not artifacts.mostly_broke(report):
        await updater.complete()
        return
    broken = sum(trial.status == "failed" for trial in report.trials)
    said = (
        f"{broken} of {len(report.trials)} trials failed by faults that say nothing about the "
        "agent, so there is no result to rely on. The report names them; say 'resume' to play "
        "those again."
    )
    await _end(updater, TaskState.TASK_STATE_FAILED, said)


async def _reject(updater: TaskUpdater, why: str) -> None:
    await _end(updater, TaskState.TASK_STATE_REJECTED, f"{why}\n\n{answering.WHAT_TO_SEND}")


async def _end(updater: TaskUpdater, state: TaskState, text: str) -> None:
    message = new_text_message(text, context_id=updater.context_id, task_id=updater.task_id)
    await updater.update_status(state, message=message)
