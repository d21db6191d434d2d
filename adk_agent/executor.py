"""EvaluationExecutor: the workflow behind an A2A task."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from a2a.helpers import (
    get_data_parts,
    get_message_text,
    new_data_part,
    new_task_from_user_message,
    new_text_message,
    new_text_part,
)
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Message, TaskState

from adk_agent.plan import Overrides
from adk_agent.progress import Progress
from adk_agent.report import EvaluationReport, leaderboard_row
from adk_agent.session import WorkflowResult, run_request

if TYPE_CHECKING:
    from google.adk.agents import BaseAgent

logger = logging.getLogger(__name__)

ARTIFACT_NAME = "evaluation"
MIN_UPDATE_INTERVAL_S = 0.5
WHAT_TO_SEND = (
    "Send a sentence such as 'Evaluate the agent at http://localhost:9010 on five airline tasks', "
    'or JSON: {"participants": {"agent": "http://..."}, "config": {"domain": "airline"}}.'
)


class EvaluationExecutor(AgentExecutor):
    """Runs one workflow, in a session of its own, for every A2A task.

    Args:
        new_root_agent: Builds the workflow agent.
        load_report: Reads a finished run's report by its id.
        monotonic_s: For holding progress down to two updates a second.
    """

    def __init__(
        self,
        *,
        new_root_agent: Callable[[], BaseAgent],
        load_report: Callable[[str], EvaluationReport],
        monotonic_s: Callable[[], float],
    ) -> None:
        self._new_root_agent = new_root_agent
        self._load_report = load_report
        self._monotonic_s = monotonic_s

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Evaluate, telling of the progress; the task ends completed, rejected or failed."""
        if context.message is None:
            msg = "an A2A request without a message reached the executor"
            raise ValueError(msg)
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        try:
            result = await self._run(context, updater)
            await self._conclude(result, updater)
        except Exception:
            # What an exception says may hold anything, so the caller gets a fixed sentence.
            logger.exception("A2A task %s broke", task.id)
            await self._end(updater, TaskState.TASK_STATE_FAILED, "The assessor broke; see its log")

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Say that the task is canceled; the framework cancels `execute` itself."""
        task = context.current_task
        if task is not None:
            await TaskUpdater(event_queue, task.id, task.context_id).cancel()

    async def _run(self, context: RequestContext, updater: TaskUpdater) -> WorkflowResult:
        reports = _Throttle(MIN_UPDATE_INTERVAL_S, self._monotonic_s)

        async def tell(progress: Progress) -> None:
            if progress.stage != "playing" or reports.due():
                await updater.update_status(
                    TaskState.TASK_STATE_WORKING,
                    message=new_text_message(
                        f"{progress.done} of {progress.total} trials played, "
                        f"{progress.passed} passed: {progress.message}",
                        context_id=updater.context_id,
                        task_id=updater.task_id,
                    ),
                    metadata={"progress": progress.model_dump(mode="json")},
                )

        return await run_request(
            self._new_root_agent(),
            request_text(context.message),
            overrides=Overrides(),
            on_progress=tell,
            session_id=updater.task_id,
        )

    async def _conclude(self, result: WorkflowResult, updater: TaskUpdater) -> None:
        if result.problem is not None or result.run_id is None:
            message = result.problem.message if result.problem else "no evaluation was run"
            refused = result.problem is not None and result.problem.exit_code == 2
            if refused:
                text = f"{message}\n\n{WHAT_TO_SEND}"
                await self._end(updater, TaskState.TASK_STATE_REJECTED, text)
            else:
                await self._end(updater, TaskState.TASK_STATE_FAILED, message)
            return
        report = self._load_report(result.run_id)
        await updater.add_artifact(
            [new_text_part(result.interpretation or ""), new_data_part(report_data(report))],
            name=ARTIFACT_NAME,
        )
        await updater.complete()

    async def _end(self, updater: TaskUpdater, state: TaskState, text: str) -> None:
        message = new_text_message(text, context_id=updater.context_id, task_id=updater.task_id)
        await updater.update_status(state, message=message)


def request_text(message: Message | None) -> str:
    """What a message asks for: its text, or else its first data part as JSON."""
    if message is None:
        return ""
    text = get_message_text(message)
    data = get_data_parts(message.parts)
    return json.dumps(data[0]) if data and not text.strip() else text


class _Throttle:
    def __init__(self, interval_s: float, monotonic_s: Callable[[], float]) -> None:
        self._interval_s = interval_s
        self._monotonic_s = monotonic_s
        self._next_s = monotonic_s()

    def due(self) -> bool:
        now_s = self._monotonic_s()
        if now_s < self._next_s:
            return False
        self._next_s = now_s + self._interval_s
        return True


def report_data(report: EvaluationReport) -> dict[str, Any]:
    """The data part: the leaderboard row's keys at the top level, the report's beside them."""
    lean = report.model_dump(
        mode="json", exclude={"evaluations": True, "trials": {"__all__": {"components"}}}
    )
    return {**leaderboard_row(report), **lean}
