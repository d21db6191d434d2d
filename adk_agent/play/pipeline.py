"""Pipeline: a request or a plan to its outcome; by rules here, by ADK's agents in `workflow`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from adk_agent.core.errors import GreenroomError
from adk_agent.core.plan import EvaluationPlan, Overrides
from adk_agent.play.evaluation import EvaluationDeps, evaluate, resume
from adk_agent.requests.by_rules import plan_by_rules
from adk_agent.results.outcome import Outcome, Problem
from adk_agent.results.progress import OnProgress
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import BridgeError


class Pipeline(Protocol):
    """Reads, plans, plays and words. What goes wrong on the way is part of the outcome."""

    async def run_request(
        self,
        text: str,
        *,
        overrides: Overrides,
        on_progress: OnProgress,
        session_id: str | None = None,
        own_addresses: Collection[str] = (),
    ) -> Outcome:
        """Evaluate what a request asks for.

        Args:
            text: A sentence, or AgentBeats JSON.
            overrides: The flags that came with it.
            on_progress: Called with each progress, in order and before this returns.
            session_id: What the work is known by to others; one is made up where none is given.
            own_addresses: Where this service is reached; a participant there is refused.
        """
        ...

    async def run_plan(
        self,
        plan: EvaluationPlan,
        *,
        request: str,
        on_progress: OnProgress,
        session_id: str | None = None,
        resumed_run_id: str | None = None,
    ) -> Outcome:
        """Evaluate by a plan that stands already.

        Args:
            plan: What is played; of a run that is resumed, that run's.
            request: What was asked for, in words.
            on_progress: Called with each progress, in order and before this returns.
            session_id: What the work is known by to others; one is made up where none is given.
            resumed_run_id: The run to go on with; None for a new one.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class RulesPipeline:
    """The steps one after the other, with no language model that reads or words. A `Pipeline`.

    Args:
        deps: What an evaluation needs.
        catalogue: The tasks that there are.
        registered: Gives the addresses by the names that may stand for them.
    """

    deps: EvaluationDeps
    catalogue: Benchmarks
    registered: Callable[[], Mapping[str, str]]

    async def run_request(
        self,
        text: str,
        *,
        overrides: Overrides,
        on_progress: OnProgress,
        session_id: str | None = None,
        own_addresses: Collection[str] = (),
    ) -> Outcome:
        """See `Pipeline`."""
        try:
            # Off the loop: a long request takes up to a second.
            plan = await asyncio.to_thread(
                plan_by_rules,
                text,
                self.catalogue,
                registered=self.registered(),
                overrides=overrides,
                own_addresses=own_addresses,
            )
        except (GreenroomError, BridgeError) as error:
            return Outcome(run_id=None, problem=Problem.of(error))
        return await self.run_plan(
            plan, request=text, on_progress=on_progress, session_id=session_id
        )

    async def run_plan(
        self,
        plan: EvaluationPlan,
        *,
        request: str,
        on_progress: OnProgress,
        session_id: str | None = None,  # noqa: ARG002 - nothing outlives the call
        resumed_run_id: str | None = None,
    ) -> Outcome:
        """See `Pipeline`."""
        run_id = resumed_run_id or self.deps.new_run_id()
        try:
            if resumed_run_id is None:
                report = await evaluate(
                    plan, self.deps, request=request, run_id=run_id, on_progress=on_progress
                )
            else:
                report = await resume(run_id, self.deps, on_progress=on_progress)
        except (GreenroomError, BridgeError) as error:
            return Outcome(run_id=run_id, problem=Problem.of(error))
        return Outcome(run_id=run_id, report=report)
