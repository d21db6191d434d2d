"""A run that was played against a real agent, and runs of hand-made trials on disk."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from adk_agent.assembly import Assembly
from adk_agent.cli.main import main
from adk_agent.core.plan import DEFAULT_SEED, EvaluationPlan, Participant, PlannedTasks
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import EvaluationDeps, evaluate
from adk_agent.results.summary import DataOrigin, TrialRow
from adk_agent.runs.store import RunManifest, RunStore, TrialRecord
from adk_agent.runs.tracking import RunStatus
from evals.driver import EvaluatorRegistry
from evals.latency import LatencyEvaluator
from evals.trace import CallType, InteractionStep, Trace
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.benchmark import Benchmark
from tau_bridge.clock import Runtime
from tau_bridge.seeds import trial_seeds
from tests.fakes import RequestLog, scripted_agent, serve

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CREATE = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Important Meeting"}}
DONE = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}
PLAYED_TASKS = ("create_task_1", "update_task_1")
"""The agent below creates a task whatever it is asked, so it passes the first alone."""


class Questions(Benchmark):
    """A benchmark of another package, without any task."""

    name = "questions"

    def tasks(self, domain, split="base"):
        return ()

    async def play(self, ref, agent, context):
        raise NotImplementedError

    async def score(self, ref, played, judge):
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Played:
    """A run on disk, and what its agent was sent."""

    results_dir: Path
    run_id: str
    url: str
    log: RequestLog

    @property
    def folder(self):
        return self.results_dir / self.run_id


@pytest.fixture(scope="session")
def played(benchmarks, tmp_path_factory):
    """Two tasks of mock, two trials each."""
    results_dir = tmp_path_factory.mktemp("results")
    registry = EvaluatorRegistry([LatencyEvaluator()])
    log = RequestLog(
        scripted_agent(lambda text, _: json.dumps(DONE if text.startswith("{") else CREATE))
    )
    with serve(log) as url:
        plan = EvaluationPlan(
            participants=(Participant(address=url),),
            tasks=(PlannedTasks(domain="mock", task_ids=PLAYED_TASKS),),
            num_trials=2,
        )
        deps = EvaluationDeps(
            benchmarks=benchmarks,
            models=Assembly(settings=Settings(offline=True)).models(),
            runtime=Runtime.system(),
            new_run_id=lambda: "run-1",
            evaluators=registry,
            team_evaluators=registry,
            new_messenger=lambda: Messenger(limits=MessengerLimits(timeout_s=60)),
            versions={"greenroom": "test"},
            results_dir=results_dir,
        )

        async def play():
            await evaluate(plan, deps, request="please")

        anyio.run(play)
    return Played(results_dir=results_dir, run_id="run-1", url=url, log=log)


@pytest.fixture
def export(capsys):
    """Runs the command; returns its exit code, output and errors."""

    def run(results_dir, to, *arguments):
        code = main(["export", "--to", to, "--results-dir", str(results_dir), *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def exported(export):
    """The texts of an export's files, by their names."""

    def texts(results_dir, to, *arguments):
        code, out, err = export(results_dir, to, *arguments)
        assert code == 0, err
        paths = [Path(line) for line in out.splitlines()]
        return {path.name: path.read_text(encoding="utf-8") for path in paths}

    return texts


def trial(task_id="create_task_1", number=0, *, steps=(), messages=(), **changes):
    """A trial as its run keeps it; scored and passed unless changes say otherwise."""
    participant, domain = changes.get("participant", "builtin:null"), changes.get("domain", "mock")
    trace_id = f"{participant}-{domain}-{task_id}-{number}"
    fields = {
        "participant": participant,
        "domain": domain,
        "task_id": task_id,
        "trial": number,
        "seed": trial_seeds(DEFAULT_SEED, number + 1)[number],
        "status": "scored",
        "reward": 1.0,
        "reward_breakdown": {"DB": 1.0},
        "basis": ("DB",),
        "reason": None,
        "termination": "user_stop",
        "user": "scripted",
        "turns": 1,
        "tool_calls": 0,
        "format_repairs": 0,
        "duration_ms": 1500.0,
        "trace_id": trace_id,
        **changes,
    }
    trace = Trace(trace_id=trace_id, steps=tuple(step(trace_id, **given) for given in steps))
    return TrialRecord(
        row=TrialRow(**fields), evaluations=(), trace=trace, messages=tuple(messages)
    )


def step(trace_id, step_id="1", **changes):
    """A call of the agent that took a second."""
    fields = {
        "step_id": step_id,
        "trace_id": trace_id,
        "call_type": CallType.AGENT,
        "caller": "green-agent",
        "callee": "agent",
        "start_time": START,
        "end_time": START + timedelta(seconds=1),
        **changes,
    }
    return InteractionStep(**fields)


BROKEN = {"status": "failed", "reward": None, "reward_breakdown": {}, "basis": ()}
UNSCORED = {"status": "unscored", "reward": None, "reward_breakdown": {}, "basis": ()}


@pytest.fixture
def stored(tmp_path, source):
    """Writes a run that was interrupted after these trials; returns the folder of runs."""

    def write(
        *records, num_trials=2, origin=None, options=None, run_id="run-1", plan=None, **changes
    ):
        addresses = dict.fromkeys(record.row.participant for record in records)
        domains = dict.fromkeys(record.row.domain for record in records)
        planned = tuple(
            PlannedTasks(
                domain=domain,
                task_ids=tuple(
                    dict.fromkeys(r.row.task_id for r in records if r.row.domain == domain)
                ),
            )
            for domain in domains
        )
        fields = {
            "participants": tuple(Participant(address=address) for address in addresses),
            "tasks": planned,
            "num_trials": num_trials,
            "options": options or {},
        }
        plan = EvaluationPlan(**(fields | (plan or {})))
        here = origin or DataOrigin(source=source.name, revision=source.revision("mock"))
        domains = [each.domain for each in plan.tasks]
        origins = here if isinstance(here, dict) else dict.fromkeys(domains, here)
        manifest = RunManifest(
            run_id=run_id,
            request="please",
            plan=plan,
            created_at=START,
            versions={"greenroom": "test"},
            seeds=trial_seeds(DEFAULT_SEED, num_trials),
            data=origins,
            **changes,
        )
        store = RunStore.create(tmp_path, run_id, manifest)
        for record in records:
            store.append(record)
        status = RunStatus(
            run_id=run_id, state="interrupted", request="", started_at=START, updated_at=START
        )
        (store.directory / "status.json").write_text(status.model_dump_json())
        store.close()
        return tmp_path

    return write


@pytest.fixture
def lines(played, exported):
    """The lines of the played run's traces, by OTLP."""
    [text] = exported(played.results_dir, "otlp").values()
    return text.splitlines()
