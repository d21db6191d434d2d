import asyncio
import json
import os
import resource
import signal
import threading
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from adk_agent.core.errors import PreflightError, RequestError, RunCanceledError, StorageError
from adk_agent.play.evaluation import evaluate, report_so_far, resume
from adk_agent.results.report import EvaluationReport
from adk_agent.results.summary import TrialRow
from adk_agent.runs.store import RunManifest, RunStore, TrialRecord, load_report, load_trials
from adk_agent.runs.tracking import read_status, request_cancel
from evals.trace import CallType, Trace
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentTimeoutError, DataError
from tau_bridge.testing import (
    RequestLog,
    auth_required,
    closed_port,
    drops_connection,
    fails,
    hangs,
    http_500,
    http_status,
    huge,
    invalid_card,
    never_ends,
    rejects,
    scripted_agent,
    serve,
)

pytestmark = pytest.mark.usefixtures("quick_start")

CREATE = {
    "name": "create_task",
    "arguments": {"user_id": "user_1", "title": "Important Meeting"},
}
DONE = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}


def creates_the_task(text, context_id):
    return json.dumps(DONE if text.startswith("{") else CREATE)


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


@pytest.mark.requirement("tau:isolation")
async def test_trials_share_no_state(make_deps, make_plan):
    """A second task_2 would be task_3, were the world shared."""
    with serve(scripted_agent(creates_the_task)) as url:
        report = await evaluate(make_plan(url, num_trials=4), make_deps(), request="")
    assert [trial.reward for trial in report.trials] == [1.0] * 4
    assert report.summary[0].pass_hat_k == {"1": 1.0, "2": 1.0, "3": 1.0, "4": 1.0}


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


async def test_only_the_oracle_is_told_which_task_it_plays(make_deps, make_plan):
    log = RequestLog(scripted_agent(creates_the_task))
    with serve(log) as url:
        await evaluate(make_plan(url, "builtin:oracle"), make_deps(), request="")
    bodies = b"".join(post.body for post in log.posts)
    assert bodies
    assert b"greenroom.task" not in bodies
    assert b"create_task_1" not in bodies


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


@pytest.mark.parametrize(
    ("app", "fault"),
    [
        (partial(http_status, 503), "infrastructure"),
        (partial(http_status, 404), "infrastructure"),
        (drops_connection, "infrastructure"),
        (auth_required, "infrastructure"),
    ],
)
async def test_what_happened_between_leaves_no_score(make_deps, make_plan, app, fault):
    with serve(app()) as url:
        report = await evaluate(make_plan(url), make_deps(timeout_s=1.0), request="")
    (trial,) = report.trials
    assert (trial.status, trial.reward, trial.fault) == ("failed", None, fault)
    assert report.status == "incomplete"
    assert report.summary[0].mean_reward is None
    assert report.summary[0].pass_hat_k == {"1": None}
    (record,) = load_trials(make_deps().results_dir, "run-1")
    assert record.trace.of_type(CallType.AGENT)[0].error is not None


@pytest.mark.parametrize(
    ("reply", "repairs", "tool_errors"),
    [
        ('{"name": "create_task", "arguments": ', True, 0),
        ('{"name": "no_such_tool", "arguments": {}}', False, 1),
        ('{"name": "create_task", "arguments": {"user_id": 7, "title": []}}', False, 1),
    ],
)
async def test_a_broken_reply_is_the_agents_and_scored(
    make_deps, make_plan, reply, repairs, tool_errors
):
    replies = iter([reply])

    def answer(text, context_id):
        return next(replies, json.dumps(DONE))

    deps = make_deps()
    with serve(scripted_agent(answer)) as url:
        report = await evaluate(make_plan(url), deps, request="")
    (trial,) = report.trials
    assert (trial.status, trial.reward) == ("scored", 0.0)
    assert (trial.format_repairs > 0) is repairs
    (record,) = load_trials(deps.results_dir, "run-1")
    tools = record.trace.of_type(CallType.TOOL)
    assert sum(step.error is not None for step in tools) == tool_errors


@pytest.mark.parametrize("app", [http_500, hangs, never_ends, huge, fails, rejects])
async def test_an_agent_that_gives_no_reply_is_scored_0(make_deps, make_plan, app):
    with serve(app()) as url:
        report = await evaluate(make_plan(url), make_deps(timeout_s=1.0), request="")
    (trial,) = report.trials
    assert (trial.status, trial.reward, trial.fault) == ("scored", 0.0, "agent")
    assert report.status == "complete"
    assert report.summary[0].agent_errors == 1
    (record,) = load_trials(make_deps().results_dir, "run-1")
    assert record.trace.of_type(CallType.AGENT)[0].error is not None


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
    assert 2 <= len(scored) <= 3  # the next may have had its answers before the signal arrived
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


def test_a_full_disk_leaves_whole_lines(tmp_path, make_plan):
    manifest = RunManifest(
        run_id="run-1",
        request="",
        plan=make_plan("builtin:null"),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        versions={},
        seeds=(),
        data={},
    )
    row = TrialRow(
        **dict.fromkeys(("participant", "domain", "task_id", "termination", "user"), "x"),
        **dict.fromkeys(("trial", "seed", "turns", "tool_calls", "format_repairs"), 0),
        status="scored",
        reward=1.0,
        reward_breakdown={},
        reason=None,
        duration_ms=0.0,
        trace_id="t",
    )
    record = TrialRecord(row=row, evaluations=(), trace=Trace(trace_id="t"), messages=())
    store = RunStore.create(tmp_path, "run-1", manifest)
    store.append(record)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (tmp_path / "run-1" / "trials.jsonl").stat().st_size
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, limit[1]))
    try:
        with pytest.raises(StorageError, match=r"trials\.jsonl"):
            store.append(record)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    store.close()
    assert list(load_trials(tmp_path, "run-1")) == [record]


def test_a_torn_last_line_is_no_trial(tmp_path):
    folder = tmp_path / "run-1"
    folder.mkdir()
    (folder / "trials.jsonl").write_text('{"row": ')
    assert list(load_trials(tmp_path, "run-1")) == []


async def test_a_results_folder_that_cannot_be_written_is_named(make_deps, make_plan, tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("")
    with pytest.raises(StorageError, match="file/run-1"):
        await evaluate(make_plan("builtin:null"), make_deps(results_dir=occupied), request="")


async def test_a_report_read_back_is_the_report_written(make_deps, make_plan):
    report = await evaluate(make_plan("builtin:null"), make_deps(), request="")
    assert EvaluationReport.from_json(report.to_json()) == report


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
