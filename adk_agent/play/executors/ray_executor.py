"""RayExecutor: plays trials by the workers of a Ray cluster, and here what cannot travel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from pydantic import SecretStr

from adk_agent.core.errors import PreflightError
from adk_agent.play.executors.base import Executor, OpenExecutor, Say
from adk_agent.play.executors.cluster import RayCluster, connected, make_sure_that_installed
from adk_agent.play.executors.local import LocalExecutor
from adk_agent.play.executors.worker import (
    WorkerParts,
    environment_fingerprint,
    may_travel,
    parts_of,
)
from adk_agent.play.executors.worker_pool import (
    TrialBrokeError,
    Worker,
    WorkerLostError,
    WorkerPool,
)
from adk_agent.play.trial import unplayed_trial
from adk_agent.play.trial_deps import PlayDeps, TrialDeps
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.store import TrialRecord
from evals.outcome import Fault
from tau_bridge.a2a.networks import is_on_this_machine


class RayExecutor:
    """Plays what it can by a `WorkerPool`, the rest here. An `Executor`.

    Args:
        deps: What the trials share.
        pool: Plays the trials that may be played elsewhere.
        warnings: What the report has to say of it.
    """

    def __init__(self, deps: TrialDeps, pool: WorkerPool, warnings: tuple[str, ...]) -> None:
        self.warnings = warnings
        self._deps = deps
        self._pool = pool
        self._here = LocalExecutor(deps)

    async def play(self, job: TrialJob) -> TrialRecord:
        """See `Executor`."""
        if stays_here(job, self._deps):
            return await self._here.play(job)
        try:
            return await self._pool.play(job)
        except WorkerLostError as error:
            lost = f"no worker of the Ray cluster could play it: {error}"
            return broken_trial(job, self._deps, lost, fault="infrastructure")
        except TrialBrokeError as error:
            return broken_trial(job, self._deps, f"broke in its worker: {error}", fault="harness")


def stays_here(job: TrialJob, deps: TrialDeps) -> bool:
    """Tell whether a trial has to be played in this process.

    Tools are served here, and calls between the members of a watched team go through a proxy that
    is here.
    """
    return (
        not may_travel(deps.benchmarks, job.domain)
        or deps.teams[job.participant.address].proxy is not None
    )


def broken_trial(job: TrialJob, deps: TrialDeps, reason: str, *, fault: Fault) -> TrialRecord:
    """Return the record of a trial that no worker finished."""
    record = unplayed_trial(job, deps, reason)
    # Not as if the participant had given no reply, which the LivenessMonitor would count.
    ending = {"termination": "harness_error", "fault": fault}
    return record.model_copy(update={"row": record.row.model_copy(update=ending)})


def on_ray(
    address: str | None,
    *,
    build: Callable[[], PlayDeps],
    secrets: Sequence[SecretStr],
) -> OpenExecutor:
    """Return what opens a `RayExecutor`.

    Args:
        address: Of a cluster; None starts one on this machine.
        build: Makes, in a worker, what cannot travel to it. Has to pickle.
        secrets: What must not be seen in the workers' logs.

    Raises:
        RequestError: Ray is not installed.
    """
    make_sure_that_installed()

    @asynccontextmanager
    async def opened(
        deps: TrialDeps, jobs: Sequence[TrialJob], say: Say
    ) -> AsyncIterator[Executor]:
        elsewhere = [job for job in jobs if not stays_here(job, deps)]
        if not elsewhere:
            executor = LocalExecutor(deps)
            executor.warnings = _notes(jobs, elsewhere)
            yield executor
            return
        say("connecting to Ray")
        async with connected(address) as cluster:
            refuse_agents_out_of_reach(cluster.other_machines(), elsewhere, deps)
            size = max(1, min(cluster.cpus(), deps.plan.max_concurrency, len(elsewhere)))
            say(f"starting {size} workers")
            parts = parts_of(deps, build=build, secrets=secrets)
            pool = WorkerPool(lambda: _spawned(cluster, parts, deps), size)
            async with AsyncExitStack() as stack:
                try:
                    await stack.enter_async_context(pool)
                except WorkerLostError as error:
                    raise PreflightError(
                        f"no worker of the Ray cluster can play: {error}"
                    ) from error
                yield RayExecutor(deps, pool, (*pool.warnings, *_notes(jobs, elsewhere)))

    return opened


async def _spawned(cluster: RayCluster, parts: WorkerParts, deps: TrialDeps) -> Worker:
    worker, ready = await cluster.start(parts, at_once=deps.plan.max_concurrency)
    domains = [each for each in deps.plan.domains if may_travel(deps.benchmarks, each)]
    here = environment_fingerprint(deps.benchmarks, domains)
    differing = here.differences(ready.environment)
    if differing:
        worker.kill()
        raise WorkerLostError(
            f"trials of {ready.machine} would not compare with those of this machine: "
            f"{'; '.join(differing)}"
        )
    return worker


def refuse_agents_out_of_reach(
    machines: Sequence[str], jobs: Sequence[TrialJob], deps: TrialDeps
) -> None:
    """Check that every agent can be called from every machine.

    Args:
        machines: Those of the cluster but this one.
        jobs: What is played there.
        deps: Says where agents answer.

    Raises:
        PreflightError: There are other machines, and an agent answers on loopback.
    """
    addresses = sorted({job.participant.address for job in jobs})
    only_here = [address for address in addresses if is_on_this_machine(deps.urls[address])]
    if machines and only_here:
        raise PreflightError(
            f"cannot play with {', '.join(only_here)} on a Ray cluster of other machines "
            f"({', '.join(machines)}), which cannot reach an agent on 127.0.0.1: name the agent by "
            "an address of the network, or leave --executor ray out"
        )


def _notes(jobs: Sequence[TrialJob], elsewhere: Sequence[TrialJob]) -> tuple[str, ...]:
    here = len(jobs) - len(elsewhere)
    if not here:
        return ()
    return (
        f"{here} of {len(jobs)} trials were not played by Ray workers: those that need tools "
        "of ours, and watched teams, are played by the process that reports",
    )
