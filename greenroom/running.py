"""The functions of the public API, thin wrappers around the code behind the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import Any

from pydantic import PositiveFloat, PositiveInt, ValidationError
from pydantic.dataclasses import dataclass

from adk_agent.assembly import Assembly
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import MAX_TASKS, MAX_TRIALS, EvaluationPlan, EvaluationRequest, Selection
from adk_agent.core.settings import Settings, variables
from adk_agent.play.budget import Budget
from adk_agent.requests.agents import BUNDLED_AGENTS, parse_address, with_roles
from adk_agent.requests.planning import resolve
from adk_agent.requests.registry import AgentRegistry
from adk_agent.requests.spelling import did_you_mean
from adk_agent.results.comparison import RunComparison as Comparison
from adk_agent.results.comparison import compare_runs
from adk_agent.results.progress import silent
from adk_agent.results.report import EvaluationReport as Report
from adk_agent.runs import store
from adk_agent.runs.naming import find_run
from tau_bridge.benchmarks import Benchmarks, open_benchmarks, wrong_benchmark
from tau_bridge.errors import BridgeError


@dataclass(frozen=True, kw_only=True, config={"strict": True})
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
        allow_code: Run the code that `python:` checks of a task file name.
        results_dir: The folder of runs; None for `GREENROOM_RESULTS_DIR`, or `results`.
        offline: Use no language model, even if one is configured.
        max_cost: Begin no more trials once the assessor's own models have cost this many US dollars.
        max_tokens: Begin no more trials once they have used this many tokens.
    """

    split: str = "base"
    seed: int | None = None
    max_concurrency: int | None = None
    max_steps: int | None = None
    solo: bool = False
    timeout_s: PositiveFloat = 300.0
    token: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    allow_code: bool = False
    results_dir: Path | str | None = None
    offline: bool | None = None
    max_cost: PositiveFloat | None = None
    max_tokens: PositiveInt | None = None


def evaluate(
    agent: str | Sequence[str],
    benchmark_or_domain: str | Path,
    *,
    tasks: int | str | Sequence[str] | None = None,
    trials: int = 1,
    **options: Any,
) -> Report:
    """Evaluate one or several agents, and return the report; `aevaluate` says what each means.

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
    benchmark_or_domain: str | Path,
    *,
    tasks: int | str | Sequence[str] | None = None,
    trials: int = 1,
    **options: Any,
) -> Report:
    """Evaluate one or several agents, and return the report, which is kept on disk as well.

    Args:
        agent: An address, or the name of a registered or bundled agent (`null`, `echo`, `oracle`).
        benchmark_or_domain: `airline`, `tau2/airline`, a benchmark's name for all its domains, or a
            file of your own tasks.
        tasks: How many of each domain, or which by id (one, or a list); None for all.
        trials: How often each task is played.
        options: The fields of `Options`.

    Raises:
        TypeError: There is no option of that name.
        RequestError: A value cannot be used, or what it names does not exist or cannot be played.
        GreenroomError: The evaluation did not finish. What did is on disk.
    """
    chosen = _options(options)
    settings = Settings.load(
        results_dir=None if chosen.results_dir is None else Path(chosen.results_dir),
        offline=chosen.offline,
    )
    try:
        benchmarks, domain = _opened(benchmark_or_domain, allow_code=chosen.allow_code)
    except BridgeError as exc:
        raise RequestError(str(exc)) from exc
    agents = _addresses(_texts("agent", agent), settings)
    plan = _plan(agents, domain, benchmarks, tasks, trials, chosen)
    remote = [each.address for each in plan.participants if each.builtin is None]
    assembly = Assembly(
        settings=settings,
        timeout_s=chosen.timeout_s,
        tokens={} if chosen.token is None else dict.fromkeys(remote, chosen.token),
        benchmarks=benchmarks,
        budget=Budget(max_cost=chosen.max_cost, max_tokens=chosen.max_tokens),
    )
    request = f"evaluate {', '.join(agents)} on {domain}"
    outcome = await assembly.pipeline().run_plan(plan, request=request, on_progress=silent)
    return outcome.required_report()


def _opened(where: str | Path, *, allow_code: bool) -> tuple[Benchmarks, str]:
    """Open the benchmarks; of a file of tasks, return its domain in its place."""
    if not isinstance(where, str | Path):
        raise RequestError(f"benchmark_or_domain is {where!r}: give one name, a text")
    benchmarks = open_benchmarks(variables)
    path = Path(where)
    if path.suffix.lower() not in benchmarks.file_suffixes:
        return benchmarks, str(where)
    if not path.is_file():
        raise RequestError(f"there is no file {str(where)!r}")
    benchmarks, [domain] = benchmarks.with_file(path, allow_code=allow_code)
    return benchmarks, domain


def load_report(run: str | Path) -> Report:
    """Return the report of a finished run.

    Args:
        run: Its folder, its `report.json`, its id, `latest` or `previous`.

    Raises:
        RequestError: `run` is neither a path nor a text.
        StorageError: There is none, or it cannot be read.
    """
    if not isinstance(run, str | Path):
        raise RequestError(f"{run!r} is no run: give its folder, its report.json or its id")
    return store.load_report(*find_run(str(run), Settings.load().results_dir))


def compare(
    first: Report | str | Path,
    second: Report | str | Path,
    *,
    other_data: bool = False,
) -> Comparison:
    """Return the second run against the first, paired by task.

    Args:
        first: The run before, as a report or an argument of `load_report`.
        second: The run after.
        other_data: Compare even if the data revisions differ.

    Raises:
        RequestError: The runs have nothing in common, or the data differ.
        StorageError: A run cannot be read.
    """
    one, other = (
        each if isinstance(each, Report) else load_report(each) for each in (first, second)
    )
    return compare_runs(one, other, other_data=other_data)


def _addresses(agents: Sequence[str], settings: Settings) -> list[str]:
    registered = AgentRegistry(settings.results_dir).addresses()
    named = {name: f"builtin:{name}" for name in BUNDLED_AGENTS} | dict(registered)
    return [named.get(agent) or _address(agent, named) for agent in agents]


def _address(agent: str, named: Iterable[str]) -> str:
    if set(":/.").isdisjoint(agent):  # a name
        raise RequestError(
            f"there is no agent {agent!r}: {did_you_mean(agent, named)} (or give its address, for "
            "example 'http://localhost:9010')"
        )
    return parse_address(agent)


def _options(given: Mapping[str, Any]) -> Options:
    known = [each.name for each in fields(Options)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}, but tasks, trials, {', '.join(known)}")
    try:
        return Options(**given)
    except ValidationError as exc:
        raise _refused(exc) from exc


def _refused(exc: ValidationError) -> RequestError:
    first = exc.errors(include_url=False)[0]
    return RequestError(f"{first['loc'][0]} is {first['input']!r}: {first['msg']}")


def _texts(name: str, value: object) -> tuple[str, ...]:
    """Return a text, or several, as a tuple of texts."""
    texts = (value,) if isinstance(value, str) else value
    if isinstance(texts, Iterable):
        found = tuple(texts)
        if all(isinstance(each, str) for each in found):
            return found
    raise RequestError(f"{name} is {value!r}: give a text, or a list of texts")


def _check_number(name: str, value: object, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise RequestError(f"{name} is {value!r}: give a whole number from 1 to {most}")


def _plan(
    agents: Sequence[str],
    benchmark_or_domain: str,
    benchmarks: Benchmarks,
    tasks: int | str | Sequence[str] | None,
    trials: int,
    chosen: Options,
) -> EvaluationPlan:
    _check_number("trials", trials, MAX_TRIALS)
    ids = None
    if isinstance(tasks, int | float):
        _check_number("tasks", tasks, MAX_TASKS)
    elif tasks is not None:
        ids = _texts("tasks", tasks)
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
        raise _refused(exc) from exc
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
