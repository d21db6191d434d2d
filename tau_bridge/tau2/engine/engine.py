"""OfficialEngine: plays and scores τ²-bench tasks with the official engine of a checkout."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evals.outcome import TaskResult
from tau_bridge.clock import Runtime
from tau_bridge.messages import Message, to_records
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.engine.checkout import BANKING, CheckoutData, Interpreter, identify
from tau_bridge.tau2.engine.playing import Cast, converse_there, failure
from tau_bridge.tau2.engine.process import Channel, EngineLimits, EngineProcess
from tau_bridge.tau2.engine.rewards import cut_off, result_of
from tau_bridge.tau2.loop import ConversationLimits, Played
from tau_bridge.tau2.references import reference_agent
from tau_bridge.tau2.scoring import REGULAR_ENDS
from tau_bridge.tau2.scripted_user import ScriptedUser
from tau_bridge.tau2.tasks import Task

if TYPE_CHECKING:
    from tau_bridge.benchmark import TaskRef


class OfficialEngine:
    """The official engine of one checkout; its process is started when it is first needed.

    Runs may share it. Pickled, it is the interpreter and the folder of data.

    Args:
        python: The interpreter that has the engine.
        data_dir: The folder of its data; None for its own.
        limits: Of time.
    """

    def __init__(
        self, python: str, data_dir: Path | None = None, limits: EngineLimits | None = None
    ) -> None:
        self._interpreter = Interpreter(python=python, data_dir=data_dir)
        self._limits = limits or EngineLimits()
        self._lock = threading.Lock()
        self._data: CheckoutData | None = None
        self._process: EngineProcess | None = None
        self._users = 0

    def __reduce__(
        self,
    ) -> tuple[type[OfficialEngine], tuple[str, Path | None, EngineLimits]]:
        """Pickle how it is started; another process starts its own."""
        return OfficialEngine, (self._interpreter.python, self._interpreter.data_dir, self._limits)

    @property
    def data(self) -> CheckoutData:
        """Return the data that it plays.

        Raises:
            DataError: There is no engine, or it has no data.
        """
        with self._lock:
            if self._data is None:
                self._data = CheckoutData(identify(self._interpreter))
            return self._data

    def acquire(self) -> None:
        """Start its process, if it is not running, for one more user of it. Takes seconds.

        Raises:
            DataError: The interpreter cannot be started.
            HarnessError: The engine cannot be imported.
        """
        self._users += 1
        self._running()

    def cpu_s(self) -> float | None:
        """Return the CPU seconds of its process and of all that it has done; None without one."""
        used = self._process.used() if self._process is not None else None
        return None if used is None else used["cpu_s"]

    def release(self) -> None:
        """Stop its process, unless others use it."""
        self._users = max(self._users - 1, 0)
        if not self._users:
            with self._lock:
                process, self._process = self._process, None
            if process is not None:
                process.stop()

    async def play(
        self,
        ref: TaskRef,
        task: Task,
        cast: Cast,
        *,
        seed: int,
        max_steps: int,
        retrieval: str | None,
        recorder: TraceRecorder,
    ) -> tuple[Played, Channel]:
        """Play a task to its end; the channel is for `score`."""
        limits = ConversationLimits(max_steps=max_steps)
        process = await asyncio.to_thread(self._running)
        channel = process.open()
        played = await converse_there(
            channel,
            {
                "type": "run",
                "domain": ref.domain,
                "task_id": ref.id,
                "seed": seed,
                "max_steps": limits.max_steps,
                "max_errors": limits.max_errors,
                "solo": cast.solo,
                "user_model": None if cast.user_model is None else cast.user_model.name,
                "retrieval": retrieval_of(ref, retrieval),
            },
            task=task,
            cast=cast,
            recorder=recorder,
        )
        return played, channel

    async def score(
        self,
        ref: TaskRef,
        task: Task,
        messages: Sequence[Message],
        *,
        termination: str,
        solo: bool,
        retrieval: str | None,
        verdicts: Mapping[str, bool] | None,
        produced_by: str,
        record: Mapping[str, Any] | None = None,
        channel: Channel | None = None,
    ) -> TaskResult:
        """Score a conversation by the official evaluation.

        Args:
            ref: The task.
            task: The same, as we know it.
            messages: The conversation.
            termination: Why it ended.
            solo: It was played without a user.
            retrieval: The way of retrieval that it was played with.
            verdicts: What a judge found on each statement.
            produced_by: Who that judge is.
            record: The task as a recorded file embeds it; None for the engine's own. Results of
                tools may differ from the recorded ones then.
            channel: That it was played on, which is closed; None for a recorded conversation.
            channel: On which it was played; None for a recorded one.

        Raises:
            HarnessError: The official evaluation failed.
        """
        if channel is None:
            process = await asyncio.to_thread(self._running)
            channel = process.open()
        with contextlib.closing(channel):
            if termination not in REGULAR_ENDS:
                return cut_off(task, termination)
            channel.send(
                {
                    "type": "evaluate",
                    "domain": ref.domain,
                    "task_id": ref.id,
                    **({} if record is None else {"task": record}),
                    "recorded": record is not None,
                    "messages": to_records(messages),
                    "termination": termination,
                    "solo": solo,
                    "retrieval": retrieval_of(ref, retrieval),
                    "verdicts": None if verdicts is None else dict(verdicts),
                }
            )
            answer = await channel.receive()
        if answer["type"] != "end":
            raise failure(answer)
        return result_of(answer["reward_info"], task, verdicts=verdicts, produced_by=produced_by)

    async def reference(
        self,
        ref: TaskRef,
        task: Task,
        *,
        gold: bool,
        solo: bool,
        seed: int,
        max_steps: int,
        retrieval: str | None,
    ) -> TaskResult:
        """Score a task's gold actions, or an agent that refuses whatever it hears.

        Raises:
            BridgeError: The task cannot be played or scored.
        """
        side = reference_agent(task, gold=gold, solo=solo)
        played, channel = await self.play(
            ref,
            task,
            Cast(
                new_agent=lambda policy, tools: side,  # noqa: ARG005 - it knows what it says
                new_user=None if solo else lambda tools: ScriptedUser(task, tools=tools),
            ),
            seed=seed,
            max_steps=max_steps,
            retrieval=retrieval,
            recorder=TraceRecorder(side.address, runtime=Runtime.system()),
        )
        if played.error is not None:
            raise played.error
        return await self.score(
            ref,
            task,
            played.messages,
            termination=played.termination,
            solo=solo,
            retrieval=retrieval,
            verdicts=None,
            produced_by="rules",
            channel=channel,
        )

    def _running(self) -> EngineProcess:
        """Return its process; a new one where there is none, or the last one has ended."""
        data = self.data
        with self._lock:
            if self._process is None or not self._process.alive:
                self._process = EngineProcess(self._interpreter, data.identity, self._limits)
            return self._process


def retrieval_of(ref: TaskRef, retrieval: str | None) -> str | None:
    """Return the way of retrieval of a task; None where its domain retrieves nothing."""
    return retrieval if ref.domain == BANKING else None
