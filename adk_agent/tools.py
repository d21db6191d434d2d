"""EvaluationTools: the green agent as seven functions, for agents and for Python code.

    async with EvaluationTools(Assembly(settings=Settings.load())) as tools:
        agent = LlmAgent(..., tools=list(tools.functions))

Each function takes and returns JSON values. Runs are tracked on disk, so other processes and the
`greenroom` command find them by id.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from adk_agent.assembly import Assembly
from adk_agent.conversation.answering import answer
from adk_agent.conversation.replies import Play, words_of
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.plan import EvaluationPlan
from adk_agent.play.evaluation import EvaluationDeps, evaluate
from adk_agent.requests.by_rules import read_intent
from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.intent import Situation
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.lookup import LookupTools, answered, as_text
from adk_agent.results.progress import Progress
from adk_agent.runs.results import results_row
from adk_agent.runs.tracking import RunStatus, read_status, request_cancel
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import BridgeError

logger = logging.getLogger(__name__)

MAX_RUNNING = 16
"""Most evaluations that one `EvaluationTools` plays at a time."""


class EvaluationTools(LookupTools):
    """The seven tools. Owns the evaluations that it started; its creator closes it.

    Args:
        assembly: The parts of an evaluation.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._results_dir = assembly.settings.results_dir
        self._opened: Benchmarks | None = None
        super().__init__(
            catalogue=self._benchmarks, results_dir=self._results_dir, new_messenger=self._messenger
        )
        self._running: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> EvaluationTools:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    @property
    def functions(self) -> tuple[Callable[..., Awaitable[dict[str, Any]]], ...]:
        """The seven tools, for an agent's `tools`."""
        return (
            *super().functions,
            self.run_evaluation,
            self.get_evaluation_status,
            self.get_evaluation_results,
            self.cancel_evaluation,
        )

    async def run_evaluation(self, request: str, confirmed: bool = False) -> dict[str, Any]:
        """Start an evaluation in the background and return its id at once.

        Args:
            request: What to evaluate, in one English sentence that names an agent (an address, a
                registered name or builtin:null), a number of tasks and a domain, for example
                "Evaluate shop-bot on five <domain> tasks, two trials each"; or AgentBeats JSON.
            confirmed: True only if a person has seen the plan that an earlier call answered with,
                and agreed to it.

        Returns:
            run_id, by which get_evaluation_status and get_evaluation_results find the evaluation,
            and trials, how many conversations it has; or error.
        """
        return await answered(self._begin(request, confirmed=confirmed is True))

    async def get_evaluation_status(self, run_id: str) -> dict[str, Any]:
        """Return the state and the progress of an evaluation.

        Args:
            run_id: The id that run_evaluation returned.

        Returns:
            state (running, complete, incomplete, interrupted, canceled or failed), progress (done
            and total trials, passed, seconds_left ...), problem (why it ended, or null); or error.
        """
        return await answered(self._shown_status(run_id))

    async def get_evaluation_results(self, run_id: str) -> dict[str, Any]:
        """Return the results of an evaluation, so far or final.

        Args:
            run_id: The id that run_evaluation returned.

        Returns:
            state; final (false while it is running); digest, the figures; prose, the figures in
            words; files, the paths of the full report; or error.
        """
        return await answered(asyncio.to_thread(self._results, run_id))

    async def cancel_evaluation(self, run_id: str) -> dict[str, Any]:
        """Ask a running evaluation to stop; finished trials are kept.

        Args:
            run_id: The id that run_evaluation returned.

        Returns:
            state and progress as they were; get_evaluation_status says when it has stopped; or
            error.
        """
        return await answered(asyncio.to_thread(self._cancel, run_id))

    async def start(self, request: str, *, confirmed: bool = False) -> tuple[str, EvaluationPlan]:
        """Start an evaluation in the background; return its id and plan once it is on disk.

        The request is read by rules even if a model is configured, because the caller can word it
        accordingly.

        Args:
            request: A sentence, or AgentBeats JSON.
            confirmed: True if a plan that is to be confirmed was agreed to.

        Raises:
            RequestError: The request cannot be used, its plan is to be confirmed first, or too many
                evaluations are running.
            StorageError: The run directory cannot be written.
        """
        text = as_text("request", request)
        plan, deps = await self._prepare(text, confirmed=confirmed)
        if len(self._running) >= MAX_RUNNING:
            raise RequestError(
                f"{MAX_RUNNING} evaluations are already running here: wait until one has ended, "
                "or cancel one with cancel_evaluation, or with: greenroom cancel RUN"
            )
        run_id = deps.new_run_id()
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        task = asyncio.create_task(self._play(plan, deps, text, run_id, begun))
        self._running[run_id] = task
        task.add_done_callback(lambda _: self._running.pop(run_id, None))
        await asyncio.wait({task, begun}, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            task.result()  # raises the error
        return run_id, plan

    async def status(self, run_id: str) -> RunStatus:
        """Return the state and the progress of an evaluation.

        Raises:
            RequestError: There is no such run.
            StorageError: Its status cannot be read.
        """
        return await asyncio.to_thread(read_status, self._results_dir, as_text("run_id", run_id))

    async def finished(self, run_id: str) -> None:
        """Wait until an evaluation that was started here has ended."""
        task = self._running.get(run_id)
        if task is not None:
            await asyncio.wait({task})

    async def aclose(self) -> None:
        """Stop all evaluations; finished trials are kept. May be called again."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _begin(self, request: str, *, confirmed: bool) -> dict[str, Any]:
        run_id, plan = await self.start(request, confirmed=confirmed)
        return {"run_id": run_id, "trials": plan.total_trials, "warnings": list(plan.warnings)}

    async def _play(
        self,
        plan: EvaluationPlan,
        deps: EvaluationDeps,
        request: str,
        run_id: str,
        begun: asyncio.Future[None],
    ) -> None:
        def on_progress(_: Progress) -> None:
            if not begun.done():
                begun.set_result(None)

        try:
            await evaluate(plan, deps, request=request, run_id=run_id, on_progress=on_progress)
        except (GreenroomError, BridgeError) as error:
            if not begun.done():
                raise
            logger.info("run %s ended: %s", run_id, error)  # its status has the error too

    async def _prepare(
        self, request: str, *, confirmed: bool
    ) -> tuple[EvaluationPlan, EvaluationDeps]:
        benchmarks = await asyncio.to_thread(self._benchmarks)
        situation = Situation(registered=self.registered())
        vocabulary = Vocabulary.of(benchmarks)
        finder = TaskSearch(benchmarks)
        intent = await asyncio.to_thread(
            read_intent, request, situation, vocabulary=vocabulary, finder=finder
        )
        conversation = self._assembly.conversation_deps(lambda: benchmarks)
        reply = await answer(intent, request, situation, conversation, confirmed=confirmed)
        if not isinstance(reply, Play):
            raise RequestError(words_of(reply))
        return reply.plan, self._assembly.evaluation_deps(benchmarks)

    async def _shown_status(self, run_id: str) -> dict[str, Any]:
        return (await self.status(run_id)).model_dump(mode="json")

    def _cancel(self, run_id: str) -> dict[str, Any]:
        return request_cancel(self._results_dir, as_text("run_id", run_id)).model_dump(mode="json")

    def _results(self, run_id: str) -> dict[str, Any]:
        return results_row(self._results_dir, as_text("run_id", run_id))

    def _messenger(self) -> Messenger:
        return self._assembly.evaluation_deps(self._benchmarks()).new_messenger()

    def _benchmarks(self) -> Benchmarks:
        if self._opened is None:
            self._opened = self._assembly.open_benchmarks()
        return self._opened
