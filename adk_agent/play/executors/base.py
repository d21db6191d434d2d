"""Executor: the one seam between a run and the place where its trials are played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from adk_agent.play.trial_deps import TrialDeps
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord

ExecutorName = Literal["local", "ray"]
"""The values of `--executor`."""


class Executor(Protocol):
    """Plays trials somewhere.

    To call `play` submits a trial, its return completes it, and to cancel the call cancels it: a
    caller that has many calls under way takes the records as they come.
    """

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what the report has to say about where the trials are played."""
        ...

    async def play(self, job: TrialJob) -> TrialRecord:
        """Return the trial's record. Whatever breaks makes it a *failed* trial."""
        ...


Say = Callable[[str], None]
"""Takes what an executor does before it can play, in words."""

OpenExecutor = Callable[[TrialDeps, Sequence[TrialJob], Say], AbstractAsyncContextManager[Executor]]
"""Opens the executor of one run, given what its trials share and those that are to be played.

Entering raises PreflightError or RequestError where it cannot play them; leaving ends it.
"""
