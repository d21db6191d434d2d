"""Backend: plays evaluations for the service, wherever that is; and the jobs that it takes."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol, Self

from a2a.types import Part

from adk_agent.conversation.outcome import Problem
from adk_agent.core.errors import GreenroomError
from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.progress import OnProgress


class JobBrokeError(Exception):
    """A job broke by a fault of ours, which stands in the log already."""


class BackendEndedError(GreenroomError):
    """The backend of a job is gone. What was finished is on disk."""


@dataclass(frozen=True, kw_only=True)
class RequestJob:
    """Read a request, play it, and have it interpreted."""

    text: str
    session_id: str


@dataclass(frozen=True, kw_only=True)
class PlanJob:
    """Play a plan that stands already: as a new run, or the rest of `resumed_run_id`."""

    plan: EvaluationPlan
    request: str
    session_id: str
    resumed_run_id: str | None = None


Job = RequestJob | PlanJob


@dataclass(frozen=True, kw_only=True)
class JobResult:
    """The end of a job.

    Args:
        run_id: The run, None where none was begun.
        problem: Why it was refused or did not finish; None where it did.
        parts: The artifact; None where there is nothing to tell.
        mostly_broke: Faults that are not the agent's own left nothing to rely on.
        broken: How many trials broke.
        trials: Of how many.
    """

    run_id: str | None
    problem: Problem | None
    parts: tuple[Part, ...] | None = None
    mostly_broke: bool = False
    broken: int = 0
    trials: int = 0


class Backend(AbstractAsyncContextManager["Backend"], Protocol):
    """Plays as many jobs at once as it is given, between entering and leaving it as a context."""

    async def __aenter__(self) -> Self:
        """Make ready.

        Raises:
            DataFolderError: the task data is not there.
            BackendEndedError: it cannot be made ready.
        """
        ...

    async def play(self, job: Job, on_progress: OnProgress) -> JobResult:
        """Play a job; call `on_progress` in order, for the last time before this returns.

        When this is cancelled, the evaluation is, and has written its report when the cancellation
        goes on.

        Raises:
            JobBrokeError: it broke.
            BackendEndedError: the backend is gone.
        """
        ...

    async def report_parts(self, run_id: str) -> list[Part] | None:
        """Return the artifact by the report on disk; None without it, or without trials."""
        ...

    async def rebuilt_parts(self, run_id: str) -> list[Part] | None:
        """Return the artifact of a run whose backend is gone, of the trials that it has finished.

        Writes the report of these trials into the run's folder, unless the run had ended before.

        Returns:
            None where nothing was played, the run is being played, or its folder cannot be read.
        """
        ...
