"""LocalExecutor: plays trials in the event loop that it is asked from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from adk_agent.play.executors.base import Executor, Say
from adk_agent.play.trial import play_trial
from adk_agent.play.trial_deps import TrialDeps
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord


class LocalExecutor:
    """Plays every trial. An `Executor`.

    Args:
        deps: What the trials share.
    """

    def __init__(self, deps: TrialDeps) -> None:
        self.warnings: tuple[str, ...] = ()
        self._deps = deps

    async def play(self, job: TrialJob) -> TrialRecord:
        """See `Executor`."""
        return await play_trial(job, self._deps)


@asynccontextmanager
async def open_local(
    deps: TrialDeps,
    jobs: Sequence[TrialJob],  # noqa: ARG001 - an `OpenExecutor`
    say: Say,  # noqa: ARG001 - an `OpenExecutor`
) -> AsyncIterator[Executor]:
    """Yield a `LocalExecutor`. There is nothing to open, and nothing to close."""
    yield LocalExecutor(deps)
