"""The functions of the public API, thin wrappers around the code behind the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adk_agent.assembly import Assembly
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan, EvaluationRequest, Selection
from adk_agent.core.settings import Settings, variables
from adk_agent.requests.planning import resolve
from adk_agent.requests.reading.addresses import parse_address, with_roles
from adk_agent.requests.reading.words import BUNDLED_AGENTS
from adk_agent.requests.registry import AgentRegistry
from adk_agent.results.comparison import RunComparison, compare_runs
from adk_agent.results.progress import silent
from adk_agent.results.report import EvaluationReport
from adk_agent.runs import store
from tau_bridge.benchmarks import Benchmarks, open_benchmarks, wrong_benchmark


@dataclass(frozen=True, kw_only=True)
class Options:
    """Further options of `evaluate`, the same as those of `greenroom run`.

    Args:
        split: The split of the benchmark's tasks.
        seed: The seed of the sample and of the trials.
        max_concurrency: The number of conversations at once.
        max_steps: The most steps of a conversation.
        solo: Play without a user, if the benchmark has such tasks.
        timeout_s: The time that an agent may take for one reply.
        token: The bearer token for remote agents.
        options: Options of the benchmark, by name.
        results_dir: The folder of runs; None for `GREENROOM_RESULTS_DIR`, or `results`.
        offline: Use no language model, even if one is configured.
    """

    split: str = "base"
    seed: int | None = None
    max_concurrency: int | None = None
    max_steps: int | None = None
    solo: bool = False
    timeout_s: float = 300.0
    token: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    results_dir: Path | str | None = None
    offline: bool | None = None


def evaluate(
    agent: str | Sequence[str],
    benchmark_or_domain: str,
    *,
    tasks: int | Sequence[str] | None = None,
    trials: int = 1,
    **options: Any,
) -> EvaluationReport:
    """Evaluate one or several agents and return the report; for the arguments see `aevaluate`.

    Raises:
        RuntimeError: An event loop is already running: await `aevaluate` instead.
        GreenroomError: As for `aevaluate`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        work = aevaluate(agent, benchmark_or_domain, tasks=tasks, trials=trials, **options)
        return asyncio.run(work)  # noqa: TID251 - for callers without an event loop
    raise RuntimeError("an event loop is already running: await greenroom.aevaluate(...) instead")


async def aevaluate(
    agent: str | Sequence[str],
    benchmark_or_domain: str,
    *,
    tasks: int | Sequence[str] | None = None,
    trials: int = 1,
    **options: Any,
) -> EvaluationReport:
    """Evaluate one or several agents and return the report, which is also kept on disk.

    Args:
        agent: An address, or the name of a registered or bundled agent (`null`, `echo`, `oracle`).
        benchmark_or_domain: `airline`, `tau2/airline`, or a benchmark's name for all its domains.
        tasks: The number of tasks per domain, or task ids; None for all.
        trials: The number of times that each task is played.
        options: The fields of `Options`.

    Raises:
        TypeError: An option does not exist.
        RequestError: An agent, domain or task does not exist or cannot be played.
        GreenroomError: The evaluation did not finish. Finished trials are on disk.
    """
    chosen = Options(**options)
    settings = Settings.load(
        results_dir=None if chosen.results_dir is None else Path(chosen.results_dir),
        offline=chosen.offline,
    )
    benchmarks = open_benchmarks(variables)
    agents = _addresses([agent] if isinstance(agent, str) else list(agent), settings)
    plan = _plan(agents, benchmark_or_domain, benchmarks, tasks, trials, chosen)
    remote = [each.address for each in plan.participants if each.builtin is None]
    assembly = Assembly(
        settings=settings,
        timeout_s=chosen.timeout_s,
        tokens={} if chosen.token is None else dict.fromkeys(remote, chosen.token),
        benchmarks=benchmarks,
    )
    request = f"evaluate {', '.join(agents)} on {benchmark_or_domain}"
    outcome = await assembly.pipeline().run_plan(plan, request=request, on_progress=silent)
    return outcome.required_report()


def load_report(run: str | Path) -> EvaluationReport:
    """Return the report of a finished run, given its folder, its `report.json` or its id.

    Raises:
        StorageError: The report is missing or cannot be read.
    """
    path = Path(run)
    folder = path.parent if path.name == store.REPORT else path
    if folder == Path(folder.name):  # an id alone
        folder = Settings.load().results_dir / folder
    return store.load_report(folder.parent, folder.name)


def compare(
    first: EvaluationReport | str | Path,
    second: EvaluationReport | str | Path,
    *,
    other_data: bool = False,
) -> RunComparison:
    """Compare the second run with the first, paired by task.

    Args:
        first: The run before, as a report or an argument of `load_report`.
        second: The run after.
        other_data: Compare even if the data revisions differ.

    Raises:
        RequestError: The runs have nothing in common, or the data differ.
        StorageError: A run cannot be read.
    """
    one, other = (
        each if isinstance(each, EvaluationReport) else load_report(each)
        for each in (first, second)
    )
    return compare_runs(one, other, other_data=other_data)


def _addresses(agents: Sequence[str], settings: Settings) -> list[str]:
    registered = AgentRegistry(settings.results_dir).addresses()
    named = {name: f"builtin:{name}" for name in BUNDLED_AGENTS} | dict(registered)
    return [named.get(agent) or parse_address(agent) for agent in agents]


def _plan(
    agents: Sequence[str],
    benchmark_or_domain: str,
    benchmarks: Benchmarks,
    tasks: int | Sequence[str] | None,
    trials: int,
    chosen: Options,
) -> EvaluationPlan:
    ids = None if tasks is None or isinstance(tasks, int) else tuple(tasks)
    try:
        request = EvaluationRequest(
            participants=with_roles(agents),
            selections=tuple(
                Selection(
                    domain=domain,
                    task_ids=ids,
                    num_tasks=tasks if isinstance(tasks, int) else None,
                    split=chosen.split,
                )
                for domain in _domains(benchmark_or_domain, benchmarks)
            ),
            num_trials=trials,
            seed=chosen.seed,
            max_concurrency=chosen.max_concurrency,
            max_steps=chosen.max_steps,
            solo=chosen.solo,
            options=dict(chosen.options),
        )
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise RequestError(f"{name} is {first['input']!r}: {first['msg']}") from exc
    return resolve(request, benchmarks)


def _domains(name: str, benchmarks: Benchmarks) -> tuple[str, ...]:
    """Return the domains of a name such as `airline`, `tau2/airline` or `tau2`."""
    benchmark, slash, domain = name.rpartition("/")
    if slash:
        problem = wrong_benchmark(benchmark, domain, benchmarks.all)
        if problem is not None:
            raise RequestError(f"{name!r}: {problem}")
        return (domain,)
    if name in benchmarks.domains:
        return (name,)
    found = [each for each in benchmarks.all if each.name == name]
    return tuple(each.name for each in found[0].domains()) if found else (name,)
