"""Trials on a real Ray cluster of this machine. One cluster for all tests: it takes seconds."""

import asyncio
import json
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import evaluate, resume
from adk_agent.play.executors.cluster import connected
from adk_agent.runs.store import load_report, load_trials
from adk_agent.runs.tracking import read_status
from tau_bridge.a2a.credentials import Credentials
from tests.fakes import scripted_agent, serve
from tests.fakes.runtime import manual_runtime

pytest.importorskip("ray", reason="the extra ray is not installed: make setup_all")
pytestmark = [pytest.mark.timeout(400), pytest.mark.extras]

TASKS = ("create_task_1", "update_task_1", "impossible_task_1")
TRIALS = 30
AT_ONCE = 4
KILLED_AFTER = 12
TOKEN = "a-token-that-no-log-may-show"
LOGS = Path("/tmp/ray/session_latest/logs")  # noqa: S108 - where Ray keeps them


@pytest.fixture(scope="module", autouse=True)
def terminations():
    """A cluster, which `connected` finds as it would in a program that had started Ray itself.

    Gives what a handler of SIGTERM notes that was there before.
    """
    noted = []
    before = signal.signal(signal.SIGTERM, lambda *received: noted.append(received))
    with asyncio.Runner() as runner:
        opened = connected(None)
        runner.run(opened.__aenter__())
        yield noted
        runner.run(opened.__aexit__(None, None, None))
    signal.signal(signal.SIGTERM, before)


def test_sigterm_does_what_it_did_before(terminations, capfd):
    os.kill(os.getpid(), signal.SIGTERM)
    assert len(terminations) == 1
    assert "SIGTERM" not in capfd.readouterr().err


@dataclass
class Agent:
    """Says that it cannot help. Waits for ever from a certain conversation on, if told so."""

    waits_after: int | None = None
    contexts: list = field(default_factory=list)
    authorizations: set = field(default_factory=set)

    async def reply(self, text, context_id):
        if context_id not in self.contexts:
            self.contexts.append(context_id)
        if self.waits_after is not None and len(self.contexts) > self.waits_after:
            await asyncio.Event().wait()
        return "I cannot help with that."

    def app(self):
        answering = scripted_agent(self.reply)

        async def noting(scope, receive, send):
            if scope["type"] == "http":
                self.authorizations.add(dict(scope["headers"]).get(b"authorization"))
            await answering(scope, receive, send)

        return noting


def plan_of(url):
    tasks = (PlannedTasks(domain="mock", task_ids=TASKS),)
    return EvaluationPlan(
        participants=(Participant(address=url),),
        tasks=tasks,
        num_trials=TRIALS // len(TASKS),
        max_concurrency=AT_ONCE,
    )


def deps_of(folder, executor, **changes):
    settings = Settings.load(results_dir=folder, offline=True)
    return Assembly(
        settings=settings, executor=executor, runtime=manual_runtime(), **changes
    ).evaluation_deps()


def workers():
    """The processes of this test's cluster that play trials."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if name.startswith(b"ray::RemoteWorker") and os.getpid() in ancestors(folder.name):
            found.append(int(folder.name))
    return sorted(found)


def ancestors(pid):
    while pid not in ("0", "1"):
        try:
            pid = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            return
        yield int(pid)


def assert_no_worker_is_left():
    until = time.monotonic() + 30
    while workers() and time.monotonic() < until:
        time.sleep(0.01)  # other processes; they have no other way to tell
    assert workers() == []


@dataclass(frozen=True)
class Killed:
    """A run on Ray one of whose workers was killed, and the same run played here."""

    agent: Agent
    ray: Path
    local: Path


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    agent = Agent()
    victims = []

    def kill_one(progress):
        if progress.done == KILLED_AFTER and not victims:
            victims.append(workers()[0])
            os.kill(victims[0], signal.SIGKILL)

    async def play(executor, on_progress):
        deps = deps_of(folder / executor, executor, credentials={url: Credentials.of_bearer(TOKEN)})
        await evaluate(plan_of(url), deps, request="r", run_id="run-1", on_progress=on_progress)

    with serve(agent.app()) as url:
        asyncio.run(play("ray", kill_one))
        on_ray = Agent(contexts=list(agent.contexts), authorizations=set(agent.authorizations))
        asyncio.run(play("local", lambda progress: None))
    assert len(victims) == 1
    return Killed(on_ray, folder / "ray", folder / "local")


def test_a_run_whose_worker_was_killed_reports_what_local_play_does_byte_for_byte(killed):
    ray, local = (
        (folder / "run-1" / "report.json").read_bytes() for folder in (killed.ray, killed.local)
    )
    assert json.loads(ray)["status"] == "complete"
    assert ray == local


def test_every_trial_of_it_is_recorded_exactly_once(killed):
    lines = (killed.ray / "run-1" / "trials.jsonl").read_text().splitlines()
    rows = [json.loads(line)["row"] for line in lines]
    keys = [(row["task_id"], row["trial"]) for row in rows]
    assert len(keys) == len(set(keys)) == TRIALS
    assert {row["status"] for row in rows} == {"scored"}


def test_only_what_the_killed_worker_was_playing_was_played_again(killed):
    assert TRIALS <= len(killed.agent.contexts) <= TRIALS + AT_ONCE


def test_workers_show_the_agent_its_token_and_log_it_nowhere(killed):
    assert killed.agent.authorizations == {f"Bearer {TOKEN}".encode()}
    logs = list(LOGS.glob("worker-*"))
    assert logs != []
    for log in logs:
        assert TOKEN not in log.read_text(errors="replace")


async def test_a_cancelled_run_cancels_its_trials_and_local_play_can_go_on_with_it(tmp_path):
    agent = Agent(waits_after=8)
    enough = asyncio.Event()

    def tell(progress):
        if progress.done == 5:
            enough.set()

    with serve(agent.app()) as url:
        running = asyncio.ensure_future(
            evaluate(
                plan_of(url),
                deps_of(tmp_path, "ray"),
                request="r",
                run_id="run-1",
                on_progress=tell,
            )
        )
        told = asyncio.ensure_future(enough.wait())
        await asyncio.wait({running, told}, return_when=asyncio.FIRST_COMPLETED)
        assert told.done(), "the run ended before it had played enough"
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert_no_worker_is_left()
        before = load_trials(tmp_path, "run-1")
        assert read_status(tmp_path, "run-1").state == "interrupted"
        assert load_report(tmp_path, "run-1").status == "interrupted"
        agent.waits_after = None
        report = await resume("run-1", deps_of(tmp_path, "local"))
    assert 5 <= len(before) <= 8
    assert (report.status, len(report.trials)) == ("complete", TRIALS)
    after = load_trials(tmp_path, "run-1")
    assert [record.key for record in after[: len(before)]] == [record.key for record in before]
    assert len(after) == len({record.key for record in after}) == TRIALS
