import asyncio
import json
import os
import signal
import threading
from pathlib import Path

import pytest

from adk_agent.core.errors import PreflightError, RequestError, RunCanceledError, StorageError
from adk_agent.play.evaluation import evaluate, report_so_far, resume
from adk_agent.runs.store import load_report, load_trials
from adk_agent.runs.tracking import read_status, request_cancel
from evals.trace import CallType
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentTimeoutError, DataError
from tests.adk_agent.play.task_creator import creates_the_task
from tests.fakes import (
    RequestLog,
    auth_required,
    closed_port,
    http_500,
    http_status,
    invalid_card,
    scripted_agent,
    serve,
)

pytestmark = pytest.mark.usefixtures("quick_start")


def own_children():
    """The process ids of this process's children."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    return {int(child) for child in children.read_text().split()}


@pytest.mark.requirement("tau:agent")
@pytest.mark.requirement("data:results")
async def test_an_agent_that_does_the_task_passes_and_the_run_is_on_disk(make_deps, make_plan):
    deps = make_deps()
    with serve(scripted_agent(creates_the_task)) as url:
        report = await evaluate(make_plan(url), deps, request="please")
    (row,) = report.summary
    assert (row.passed, row.scored, row.pass_hat_k) == (1, 1, {"1": 1.0})
    assert row.data.source == "inspect-evals"
    assert row.user == "scripted"
    directory = deps.results_dir / "run-1"
    assert load_report(deps.results_dir, "run-1") == report
    manifest = json.loads((directory / "manifest.json").read_text())
    assert manifest["request"] == "please"
    assert manifest["seeds"] == [trial.seed for trial in report.trials]
    (record,) = load_trials(deps.results_dir, "run-1")
    assert record.row == report.trials[0]
    agent_steps = record.trace.of_type(CallType.AGENT)
    assert [step.callee for step in agent_steps] == [url, url]
    assert [step.name for step in record.trace.of_type(CallType.TOOL)] == ["create_task"]
    assert record.messages[0]["content"] == "Hi! How can I help you today?"


async def test_the_report_is_the_same_byte_for_byte_whatever_the_concurrency(
    make_deps, make_plan, source, tmp_path
):
    texts = []
    for concurrency in (1, 5):
        plan = make_plan(
            "builtin:oracle",
            "builtin:null",
            task_ids=source.task_ids("mock"),
            max_concurrency=concurrency,
        )
        deps = make_deps(results_dir=tmp_path / str(concurrency))
        report = await evaluate(plan, deps, request="all")
        texts.append(report.to_json().replace(f'"max_concurrency": {concurrency}', ""))
    assert texts[0] == texts[1]


async def test_trials_with_gold_replay_pass_and_a_null_agent_stands_beside_them(
    make_deps, make_plan, source
):
    plan = make_plan("builtin:oracle", "builtin:null", task_ids=source.task_ids("mock"))
    report = await evaluate(plan, make_deps(), request="")
    oracle, null = report.summary
    assert (oracle.passed, oracle.scored, oracle.failed) == (8, 9, 0)
    # One assertion is about a task that was never created: it is not met.
    assert (null.passed, null.scored, null.failed) == (1, 9, 0)


def assert_nothing_was_played(results_dir, *, problem):
    """Only a status is kept, which says why."""
    (folder,) = results_dir.iterdir()
    assert [path.name for path in folder.iterdir()] == ["status.json"]
    status = read_status(results_dir, folder.name)
    assert status.state == "failed"
    assert problem in status.problem


async def test_an_agent_that_is_not_there_ends_the_run_before_it_begins(make_deps, make_plan):
    deps = make_deps()
    with closed_port() as url, pytest.raises(PreflightError, match="not ready") as caught:
        await evaluate(make_plan(url, "builtin:null"), deps, request="")
    assert url in str(caught.value)
    assert_nothing_was_played(deps.results_dir, problem=url)


async def test_an_agent_with_an_invalid_card_ends_the_run_before_it_begins(make_deps, make_plan):
    with serve(invalid_card()) as url, pytest.raises(PreflightError, match="card"):
        await evaluate(make_plan(url), make_deps(), request="")


async def test_one_bad_agent_does_not_touch_the_scores_of_another(make_deps, make_plan):
    with serve(http_500()) as bad, serve(scripted_agent(creates_the_task)) as good:
        report = await evaluate(make_plan(bad, good), make_deps(), request="")
    bad_row, good_row = report.summary
    assert (bad_row.agent_errors, bad_row.mean_reward) == (1, 0.0)
    assert (good_row.passed, good_row.mean_reward) == (1, 1.0)


async def test_what_is_finished_is_kept_when_the_run_is_cancelled(make_deps, make_plan):
    first_is_done, second_has_begun = threading.Event(), threading.Event()

    async def answer(text, context_id):
        if first_is_done.is_set():
            second_has_begun.set()
            await asyncio.Event().wait()
        return creates_the_task(text, context_id)

    def watch(progress):
        if progress.done == 1:
            first_is_done.set()

    deps = make_deps()
    with serve(scripted_agent(answer)) as url:
        plan = make_plan(url, num_trials=3, max_concurrency=1)
        run = asyncio.create_task(evaluate(plan, deps, request="", on_progress=watch))
        assert await asyncio.to_thread(second_has_begun.wait, 30)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    report = load_report(deps.results_dir, "run-1")
    assert report.status == "interrupted"
    assert [trial.reward for trial in report.trials] == [1.0]
    assert "2 of 3 trials not played" in report.warnings
    assert len(list(load_trials(deps.results_dir, "run-1"))) == 1


async def test_an_agent_that_goes_away_is_not_waited_for_to_the_end(make_deps, make_plan):
    log = RequestLog(http_status(503))
    with serve(log) as url:
        plan = make_plan(url, num_trials=30, max_concurrency=1)
        report = await evaluate(plan, make_deps(), request="")
    assert [trial.status for trial in report.trials] == ["failed"] * 30
    assert len(log.posts) == 8 * 4  # each message is tried again three times
    assert "not played, because the agent was given up: 8 trials" in report.trials[-1].reason
    assert any("30 trials are failed" in warning for warning in report.warnings)


async def test_an_agent_that_is_slow_to_show_its_card_gets_a_second_and_longer_time(
    make_deps, make_plan
):
    allowed = []

    class Hasty(Messenger):
        async def card(self, url):
            allowed.append(self.limits.card_timeout_s)
            if len(allowed) > 1:  # not when it is greeted
                raise AgentTimeoutError(url, f"no card within {self.limits.card_timeout_s:g} s")
            return await super().card(url)

    with serve(auth_required()) as url:
        plan = make_plan(url, num_trials=5, max_concurrency=1)
        report = await evaluate(plan, make_deps(new_messenger=Hasty), request="")
    assert allowed == [10.0, 10.0, 60.0]
    assert report.trials[-1].reason.endswith("the agent was given up: no card within 60 s")


async def test_a_bundled_agents_process_that_is_killed_is_named(make_deps, make_plan):
    killed, before = [], own_children()

    def watch(progress):
        if progress.done == 2 and not killed:
            (child,) = own_children() - before
            killed.append(child)
            os.kill(child, signal.SIGKILL)

    plan = make_plan("builtin:null", num_trials=40, max_concurrency=1)
    report = await evaluate(plan, make_deps(), request="", on_progress=watch)
    scored = [trial for trial in report.trials if trial.status == "scored"]
    assert 2 <= len(scored) < 20  # the next may have had their answers before the process was gone
    assert report.status == "incomplete"
    assert report.trials[-1].reason.endswith("process ended (killed by signal 9)")


async def test_a_task_that_cannot_be_read_stops_the_run_before_it_begins(
    make_deps, make_plan, make_source
):
    task = {"id": "a", "user_scenario": {"instructions": "Do it."}}
    deps = make_deps(benchmarks=make_source(task, {"id": "b", "user_scenario": 7}))
    with pytest.raises(DataError, match="'b'"):
        await evaluate(make_plan("builtin:null", task_ids=["a", "b"]), deps, request="")
    assert_nothing_was_played(deps.results_dir, problem="'b'")


async def test_a_results_folder_that_cannot_be_written_is_named(make_deps, make_plan, tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("")
    with pytest.raises(StorageError, match="file/run-1"):
        await evaluate(make_plan("builtin:null"), make_deps(results_dir=occupied), request="")


@pytest.fixture
def held_up():
    """An agent that never answers, and what tells that it was asked."""
    asked = asyncio.Event()

    async def reply(text, context_id):
        asked.set()
        await asyncio.Event().wait()

    with serve(scripted_agent(reply)) as url:
        yield url, asked


async def begun(plan, deps):
    """A run of which the first trials are finished and the next one hangs."""
    reached = asyncio.Event()

    def tell(progress):
        if progress.done == 2:
            reached.set()

    playing = asyncio.create_task(evaluate(plan, deps, request="r", on_progress=tell))
    await reached.wait()
    return playing


@pytest.mark.parametrize("other", [resume, report_so_far])
async def test_whoever_is_refused_a_run_in_play_leaves_its_cancellation_alone(
    held_up, make_deps, make_plan, other
):
    url, _ = held_up
    deps = make_deps()
    plan = make_plan("builtin:null", url, max_concurrency=1, num_trials=2)
    playing = await begun(plan, deps)
    request_cancel(deps.results_dir, "run-1")
    with pytest.raises(RequestError, match="being played"):
        await other("run-1", deps)
    with pytest.raises(RunCanceledError):
        await playing
    assert read_status(deps.results_dir, "run-1").state == "canceled"
