"""evaluate: plays a plan and returns its report. Knows no ADK."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from adk_agent.bundled import BundledAgents, gold_script
from adk_agent.business_trial import play_business, served_tools
from adk_agent.errors import ModelError, PreflightError, RequestError, StorageError
from adk_agent.executors.base import Executor, OpenExecutor
from adk_agent.executors.local import open_local
from adk_agent.executors.schedule import in_turns, play_all
from adk_agent.markdown import render_markdown
from adk_agent.masking import without_keys
from adk_agent.models import LiteLlmCompletion, default_spec, user_spec
from adk_agent.plan import BUILTIN_PREFIX, BUSINESS, EvaluationPlan
from adk_agent.progress import OnProgress, Pace, Progress, Stage, silent
from adk_agent.references import ReferenceBook
from adk_agent.report import EvaluationReport
from adk_agent.runs import RunManifest, RunStore, TrialRecord, load_manifest, load_trials
from adk_agent.settings import Settings
from adk_agent.standing import EndedTrial, Standing
from adk_agent.stop_rule import EarlyStop, StopRule, in_fair_order
from adk_agent.summary import DataOrigin
from adk_agent.tally import Tally
from adk_agent.team_access import Teams
from adk_agent.tracking import tracked_run
from adk_agent.trial import TrialDeps, TrialJob, jobs_of
from adk_agent.vigil import Probe, Vigil
from evals.driver import EvaluatorRegistry
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.bundled_domains import BUNDLED_DOMAINS
from tau_bridge.business.tool_server import BusinessTools
from tau_bridge.clock import Runtime
from tau_bridge.errors import AgentError
from tau_bridge.tau2.data import DataSource
from tau_bridge.tau2.domains import Domain, load_domain
from tau_bridge.tau2.loop import trial_seeds


@dataclass(frozen=True, kw_only=True)
class EvaluationDeps:
    """What an evaluation needs from outside. Chosen in `adk_agent.assembly` alone."""

    settings: Settings
    source: DataSource
    runtime: Runtime
    new_run_id: Callable[[], str]
    evaluators: EvaluatorRegistry
    """For τ²-bench trials, for participants and for the run."""
    team_evaluators: EvaluatorRegistry
    """For coordination exercises."""
    new_messenger: Callable[[], Messenger]
    versions: Mapping[str, str]
    results_dir: Path
    observe_teams: bool = True
    """Whether calls between the members of a team are watched."""
    believe_reports: bool = True
    """Whether what participants report of their own calls is used."""
    open_executor: OpenExecutor = open_local
    """Where trials are played; here by default."""
    references: ReferenceBook = field(default_factory=ReferenceBook)
    """Where the floor and the ceiling of tasks come from."""


async def evaluate(
    plan: EvaluationPlan,
    deps: EvaluationDeps,
    *,
    request: str,
    run_id: str | None = None,
    on_progress: OnProgress = silent,
) -> EvaluationReport:
    """Play every trial of the plan and report.

    The report is on disk when this returns; when it is cancelled, what was finished is.

    Raises:
        PreflightError: a participant or a model is not there; nothing was played.
        StorageError: the run directory cannot be written.
    """
    manifest = RunManifest(
        run_id=run_id or deps.new_run_id(),
        request=without_keys(request),
        plan=plan,
        created_at=deps.runtime.clock.now(),
        versions=dict(deps.versions),
        seeds=tuple(trial_seeds(plan.seed, plan.num_trials)),
        data=_origins(plan, deps.source),
    )
    return await _tracked(manifest, deps, on_progress)


async def resume(
    run_id: str, deps: EvaluationDeps, *, on_progress: OnProgress = silent
) -> EvaluationReport:
    """Play what is missing of a run, and what an infrastructure fault broke; report all of it.

    Raises:
        RequestError: the run is being played, or other data or versions would join it.
        PreflightError: a participant or a model is not there; nothing was played.
        StorageError: there is no such run, or its directory cannot be read or written.
    """
    manifest = load_manifest(deps.results_dir, run_id)
    _refuse_a_mixture(manifest, deps)
    return await _tracked(manifest, deps, on_progress, goes_on=True)


async def report_so_far(run_id: str, deps: EvaluationDeps) -> EvaluationReport:
    """The report of the trials that are on disk, written beside them. Plays nothing.

    Raises:
        RequestError: the run is being played.
        StorageError: there is no such run, or its directory cannot be read or written.
    """
    manifest = load_manifest(deps.results_dir, run_id)
    clock = deps.runtime.clock
    with tracked_run(deps.results_dir, run_id, request=manifest.request, clock=clock) as tracker:
        finished = await asyncio.to_thread(load_trials, deps.results_dir, run_id)
        report = await _Run(manifest, deps, silent, finished).report_so_far()
        tracker.end("interrupted", "its process ended before it did")
    return report


async def _tracked(
    manifest: RunManifest,
    deps: EvaluationDeps,
    on_progress: OnProgress,
    *,
    goes_on: bool = False,
) -> EvaluationReport:
    """Play, with the run's status on disk all the while; or play the rest, where it `goes_on`."""
    with tracked_run(
        deps.results_dir, manifest.run_id, request=manifest.request, clock=deps.runtime.clock
    ) as tracker:

        def tell(progress: Progress) -> None:
            tracker.saw(progress)
            on_progress(progress)

        finished = await _finished(manifest, deps) if goes_on else None
        run = _Run(manifest, deps, tell, finished)
        report = await tracker.until_canceled(run.execute())
        tracker.end(report.status)
    return report


async def _finished(manifest: RunManifest, deps: EvaluationDeps) -> list[TrialRecord]:
    """The trials that need not be played again. Read under the run's lock: nobody adds to them."""
    records = await asyncio.to_thread(load_trials, deps.results_dir, manifest.run_id)
    return [record for record in records if record.row.status != "failed"]


def _refuse_a_mixture(manifest: RunManifest, deps: EvaluationDeps) -> None:
    now = {
        **{f"version of {name}": version for name, version in deps.versions.items()},
        **{f"data of {name}": o for name, o in _origins(manifest.plan, deps.source).items()},
    }
    then = {
        **{f"version of {name}": version for name, version in manifest.versions.items()},
        **{f"data of {name}": origin for name, origin in manifest.data.items()},
    }
    differing = [
        f"{name}: {then.get(name)} then, {now.get(name)} now"
        for name in sorted(now.keys() | then.keys())
        if now.get(name) != then.get(name)
    ]
    if differing:
        raise RequestError(
            f"run {manifest.run_id} cannot go on here, for its trials would not compare: "
            f"{'; '.join(differing)}. Start a new run"
        )


def _origins(plan: EvaluationPlan, source: DataSource) -> dict[str, DataOrigin]:
    origins = {}
    for domain in (planned.domain for planned in plan.tasks):
        bundled = BUNDLED_DOMAINS.get(domain)
        origins[domain] = (
            DataOrigin(source=source.name, revision=source.revision(domain))
            if bundled is None
            else DataOrigin(source="greenroom", revision=bundled.revision())
        )
    return origins


class _Run:
    """One run. `finished` are the trials of it that need not be played; None: it is a new one."""

    def __init__(
        self,
        manifest: RunManifest,
        deps: EvaluationDeps,
        on_progress: OnProgress,
        finished: Sequence[TrialRecord] | None,
    ) -> None:
        self._manifest = manifest
        self._plan = manifest.plan
        self._deps = deps
        self._run_id = manifest.run_id
        self._on_progress = on_progress
        self._is_new = finished is None
        jobs = list(jobs_of(self._plan))
        self._tally = Tally(
            run_id=self._run_id, plan=self._plan, jobs=jobs, evaluators=deps.evaluators
        )
        kept = {record.key: record for record in finished or ()}
        self._total = len(jobs)
        self._jobs = [job for job in jobs if job.key not in kept]
        for job in jobs:
            if job.key in kept:
                self._tally.add(job, kept[job.key])
        self._pace = Pace(deps.runtime.clock)

    async def report_so_far(self) -> EvaluationReport:
        store = RunStore.reopen(self._deps.results_dir, self._run_id)
        try:
            return await self._report(store, interrupted=True)
        finally:
            store.close()

    async def execute(self) -> EvaluationReport:
        self._say("preparing", f"loading {', '.join(t.domain for t in self._plan.tasks)}")
        user_model, judge_model = await self._models()
        domains = await asyncio.to_thread(self._load_domains)
        await self._measure_references(domains)
        everyone = self._plan.members or self._plan.participants
        names = [p.builtin for p in everyone if p.builtin is not None]
        messenger = self._deps.new_messenger()
        try:
            async with (
                BundledAgents(
                    names,
                    gold=self._gold(names),
                    wired=self._deps.observe_teams,
                    seed=self._plan.seed,
                ) as bundled,
                self._teams(bundled) as teams,
                self._tools(bundled) as tools,
            ):
                urls = self._urls(bundled)
                self._allow_bundled(messenger, urls)
                await self._greet(messenger, urls)
                self._tally.warn(teams.warnings)
                vigil = Vigil(self._probe(bundled, urls))
                trial_deps = TrialDeps(
                    run_id=self._run_id,
                    plan=self._plan,
                    domains=domains,
                    urls=urls,
                    teams=teams,
                    messenger=messenger,
                    clock=self._deps.runtime.clock,
                    evaluators=self._deps.evaluators,
                    team_evaluators=self._deps.team_evaluators,
                    gone=vigil.gone,
                    believe_reports=self._deps.believe_reports,
                    user_model=user_model,
                    judge_model=judge_model,
                    tools=tools,
                )
                return await self._play_and_report(trial_deps, vigil)
        finally:
            await messenger.aclose()

    async def _measure_references(self, domains: Mapping[str, Domain]) -> None:
        revisions = {domain: origin.revision for domain, origin in self._manifest.data.items()}
        references = await self._deps.references.of(self._plan, domains, revisions)
        self._manifest = self._manifest.model_copy(update={"references": references})

    def _urls(self, bundled: BundledAgents) -> dict[str, str]:
        """Each participant's address in the plan to the address where it answers."""
        return {
            p.address: bundled.url(p.builtin) if p.builtin is not None else p.address
            for p in self._plan.members or self._plan.participants
        }

    @staticmethod
    def _allow_bundled(messenger: Messenger, urls: Mapping[str, str]) -> None:
        """Bundled agents are on this machine, which a public service calls for nobody else."""
        for address, url in urls.items():
            if address.startswith(BUILTIN_PREFIX):
                messenger.allow(url)

    def _tools(
        self, bundled: BundledAgents
    ) -> contextlib.AbstractAsyncContextManager[BusinessTools | None]:
        """The tools of business scenarios; None where none is played."""
        if not self._plan.plays(BUSINESS):
            return contextlib.nullcontext()
        return served_tools(self._deps.settings.tools_url, self._urls(bundled))

    def _teams(self, bundled: BundledAgents) -> Teams:
        return Teams(
            self._plan,
            bundled,
            urls=lambda: self._urls(bundled),
            observe=self._deps.observe_teams,
        )

    async def _models(self) -> tuple[LiteLlmCompletion | None, LiteLlmCompletion | None]:
        """The models that play the user and judge statements, made sure to answer."""
        settings = self._deps.settings
        spec = user_spec(settings, self._plan.user_llm, self._plan.user_llm_args)
        judge_spec = default_spec(settings) or spec
        needed = bool(self._plan.benchmark_tasks)
        talks = needed and not self._plan.solo
        user = LiteLlmCompletion(spec) if spec is not None and talks else None
        judge = LiteLlmCompletion(judge_spec) if judge_spec is not None and needed else None
        if judge is not None and user is not None and judge.spec == user.spec:
            judge = user
        try:
            for model in {id(model): model for model in (user, judge) if model}.values():
                self._say("preparing", f"asking the model {model.spec.name} whether it answers")
                await model.check()
        except ModelError as error:
            raise PreflightError(str(error)) from error
        return user, judge

    def _load_domains(self) -> dict[str, Domain]:
        source = self._deps.source
        for planned in self._plan.benchmark_tasks:
            for task_id in planned.task_ids:
                source.task(planned.domain, task_id)  # a task that cannot be read, before any play
        return {
            planned.domain: load_domain(source, planned.domain)
            for planned in self._plan.benchmark_tasks
        }

    def _gold(self, names: list[str]) -> dict[str, object]:
        if "oracle" not in names:
            return {}
        source = self._deps.source
        return gold_script(
            (planned.domain, source.task(planned.domain, task_id))
            for planned in self._plan.benchmark_tasks
            for task_id in planned.task_ids
        )

    async def _greet(self, messenger: Messenger, urls: Mapping[str, str]) -> None:
        """Fetch every participant's card, before anything is played."""
        addresses = list(urls)
        cards = await asyncio.gather(
            *(messenger.card(urls[address]) for address in addresses), return_exceptions=True
        )
        problems = []
        for address, card in zip(addresses, cards, strict=True):
            if isinstance(card, AgentError):
                problems.append(f"{address}: {card}")
            elif isinstance(card, BaseException):
                raise card
        if problems:
            msg = "cannot evaluate, because an agent is not ready:\n  " + "\n  ".join(problems)
            raise PreflightError(msg)

    async def _play_and_report(self, trial_deps: TrialDeps, vigil: Vigil) -> EvaluationReport:
        async with self._deps.open_executor(trial_deps, self._jobs) as executor:
            self._tally.warn(executor.warnings)
            store = self._store()
            try:
                return await self._play(trial_deps, executor, vigil, store)
            finally:
                store.close()

    async def _play(
        self, trial_deps: TrialDeps, executor: Executor, vigil: Vigil, store: RunStore
    ) -> EvaluationReport:
        self._say("playing", f"playing {len(self._jobs)} trials")
        try:
            await play_all(
                in_turns(self._jobs, self._plan),
                executor=executor,
                deps=trial_deps,
                vigil=vigil,
                keep=lambda job, record: self._keep(job, record, store),
            )
        except BaseException:
            # Whatever ended the run, what was finished is reported; on a full disk that may fail
            # too, and the first error is the one to tell.
            with contextlib.suppress(StorageError):
                await self._report(store, interrupted=True)
            raise
        return await self._report(store, interrupted=False)

    def _store(self) -> RunStore:
        results_dir = self._deps.results_dir
        if self._is_new:
            return RunStore.create(results_dir, self._run_id, self._manifest)
        return RunStore.reopen(results_dir, self._run_id)

    def _probe(self, bundled: BundledAgents, urls: Mapping[str, str]) -> Probe:
        async def probe(address: str) -> str | None:
            messenger = self._deps.new_messenger()  # one that does not remember the card
            self._allow_bundled(messenger, urls)
            try:
                await messenger.card(urls[address])
            except AgentError as error:
                ending = await bundled.ending() if address.startswith(BUILTIN_PREFIX) else None
                return ending or str(error)
            finally:
                await messenger.aclose()
            return None

        return probe

    def _keep(self, job: TrialJob, record: TrialRecord, store: RunStore) -> None:
        store.append(record)
        outcome = self._tally.add(job, record)
        self._say("playing", f"{job.label}: {outcome}", trial=job.label, outcome=outcome)

    async def _report(self, store: RunStore, *, interrupted: bool) -> EvaluationReport:
        report = await self._tally.report(
            request=self._manifest.request,
            created_at=self._manifest.created_at,
            versions=self._manifest.versions,
            origins=self._manifest.data,
            references=self._manifest.references,
            settings=self._deps.settings,
            interrupted=interrupted,
        )
        store.finish(report, render_markdown(report))
        self._say("finished", "the report is written")
        return report

    def _say(
        self,
        stage: Stage,
        message: str,
        *,
        trial: str | None = None,
        outcome: str | None = None,
    ) -> None:
        counts = self._tally.counts
        self._on_progress(
            Progress(
                stage=stage,
                run_id=self._run_id,
                message=message,
                done=counts.total(),
                total=self._total,
                passed=counts["passed"],
                scored=counts["passed"] + counts["not passed"],
                unscored=counts["unscored"],
                failed=counts["failed"],
                seconds_left=self._pace.seconds_left(stage, counts.total(), self._total),
                trial=trial,
                outcome=outcome,
            )
        )
