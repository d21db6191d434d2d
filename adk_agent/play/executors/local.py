"""LocalExecutor: plays trials in the event loop that it is asked from."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adk_agent.core.plan import BUSINESS, COORDINATION
from adk_agent.play.business_trial import play_business
from adk_agent.play.executors.base import Executor, Say
from adk_agent.play.exercise import play_exercise
from adk_agent.play.trial import TrialDeps, play_trial
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord


class LocalExecutor:
    """Plays trials of every kind. An `Executor`.

    Args:
        deps: What the trials share.
    """

    def __init__(self, deps: TrialDeps) -> None:
        self.warnings: tuple[str, ...] = ()
        self._deps = deps
        self._has_exercises = deps.plan.plays(COORDINATION)

    async def play(self, job: TrialJob) -> TrialRecord:
        """See `Executor`."""
        if job.domain == COORDINATION:
            return await play_exercise(job, self._deps)
        return await self._play_unwatched(job)

    async def _play_unwatched(self, job: TrialJob) -> TrialRecord:
        """A trial of one agent. Not while its team is watched: its calls are not the exercise's."""
        play = play_business if job.domain == BUSINESS else play_trial
        team = self._deps.teams[job.participant.address]
        async with team.turn() if self._has_exercises else contextlib.nullcontext():
            return await play(job, self._deps)


@asynccontextmanager
async def open_local(
    deps: TrialDeps,
    jobs: Sequence[TrialJob],  # noqa: ARG001 - an `OpenExecutor`
    say: Say,  # noqa: ARG001 - an `OpenExecutor`
) -> AsyncIterator[Executor]:
    """A `LocalExecutor`. There is nothing to open, and nothing to close."""
    yield LocalExecutor(deps)
