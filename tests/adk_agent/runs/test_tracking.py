"""Runs as other processes see them: status, results, cancel and the list of runs."""

import asyncio
import json
import subprocess
import sys
import threading

import pytest

from adk_agent.cli.main import main
from adk_agent.core.errors import PreflightError, RequestError, RunCanceledError
from adk_agent.play.evaluation import evaluate
from adk_agent.results.progress import Progress
from adk_agent.runs.tracking import read_status, request_cancel, run_ids, tracked_run
from adk_agent.testing import manual_runtime
from tau_bridge.testing import scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")

CLOCK = manual_runtime().clock


def progress(done, **fields):
    return Progress(
        stage="playing", run_id="r1", message="m", done=done, total=4, passed=1, **fields
    )


@pytest.fixture
def shell(tmp_path, capsys):
    """Runs a command over the test's results; returns exit code, output and complaint."""

    def run(*arguments):
        code = main([*arguments, "--results-dir", str(tmp_path / "results")])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def results_dir(tmp_path):
    return tmp_path / "results"


def test_a_run_that_goes_on_is_shown_with_its_progress(shell, results_dir):
    with tracked_run(results_dir, "r1", request="Evaluate \x1b[2Jme", clock=CLOCK) as tracker:
        tracker.saw(progress(3, failed=1, seconds_left=12.4))
        code, out, _ = shell("status", "r1")
        _, listed, _ = shell("list", "runs")
    assert code == 0
    assert "Run r1: running" in out
    assert "3 of 4 played, 1 passed, 1 failed, about 12 s left" in out
    assert "\x1b" not in out + listed
    assert "resume" not in out
    assert listed.split()[:3] == ["r1", "running", "3/4"]


def test_the_latest_run_is_meant_where_none_is_named(shell, results_dir):
    for run_id in ("20260101-000000-aa", "20260102-000000-aa"):
        with tracked_run(results_dir, run_id, request="r", clock=CLOCK) as tracker:
            tracker.end("complete")
    assert run_ids(results_dir) == ["20260102-000000-aa", "20260101-000000-aa"]
    _, out, _ = shell("status", "--json")
    assert json.loads(out)["run_id"] == "20260102-000000-aa"
    _, out, _ = shell("list", "runs", "--json")
    assert [row["state"] for row in json.loads(out)] == ["complete", "complete"]


@pytest.mark.parametrize("command", ["status", "results", "cancel", "resume"])
@pytest.mark.parametrize("run", ["nope", "../x", ".."])
def test_a_run_that_is_not_there_is_exit_2(shell, command, run):
    code, out, complaint = shell(command, run)
    assert (code, out) == (2, "")
    assert repr(run) in complaint


@pytest.mark.parametrize("command", ["status", "results"])
def test_no_run_at_all_is_exit_2(shell, command):
    code, _, complaint = shell(command)
    assert code == 2
    assert "start one: greenroom run" in complaint


def test_results_of_a_run_that_never_began_are_exit_3_and_say_why(shell, results_dir):
    with (
        pytest.raises(PreflightError),
        tracked_run(results_dir, "r1", request="r", clock=CLOCK),
    ):
        raise PreflightError("the agent is not ready")
    code, _, complaint = shell("results", "r1")
    assert code == 3
    assert "it is failed and nothing was played: the agent is not ready" in complaint
    code, out, _ = shell("status", "r1")
    assert code == 0
    assert "why: the agent is not ready" in out


@pytest.mark.parametrize(
    ("state", "code"),
    [("complete", 0), ("incomplete", 3), ("interrupted", 3), ("canceled", 130), ("failed", 3)],
)
def test_following_a_run_ends_with_its_exit_code(shell, results_dir, state, code):
    with tracked_run(results_dir, "r1", request="r", clock=CLOCK) as tracker:
        tracker.end(state)
    assert shell("status", "r1", "--follow")[0] == code


def test_following_tells_every_change_until_the_end(results_dir, shell):
    with tracked_run(results_dir, "r1", request="r", clock=CLOCK) as tracker:
        tracker.saw(progress(1))
        told = subprocess.Popen(
            [
                *(sys.executable, "-m", "adk_agent.cli.main", "status", "r1", "--follow"),
                *("--json", "--results-dir", str(results_dir)),
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        first = json.loads(told.stdout.readline())
        tracker.saw(progress(2).model_copy(update={"stage": "finished"}))
        second = json.loads(told.stdout.readline())
        tracker.end("complete")
    rest, _ = told.communicate(timeout=30)
    assert [each["progress"]["done"] for each in (first, second)] == [1, 2]
    assert json.loads(rest)["state"] == "complete"
    assert told.returncode == 0


async def test_a_run_is_canceled_from_elsewhere_and_what_was_finished_is_kept(
    make_deps, make_plan, shell
):
    deps = make_deps()
    results_dir = deps.results_dir
    waiting = asyncio.Event()

    async def reply(text, context_id):
        waiting.set()
        await asyncio.sleep(3600)

    def cancel():
        told.append(shell("cancel", "run-1"))

    told = []
    with serve(scripted_agent(reply)) as url:
        plan = make_plan("builtin:null", url, max_concurrency=1, num_trials=2)
        canceling = threading.Thread(target=cancel)

        def tell(progress):
            if progress.done == 2 and not canceling.is_alive():
                canceling.start()

        with pytest.raises(RunCanceledError, match="what was finished is kept"):
            await evaluate(plan, deps, request="r", on_progress=tell)
        await asyncio.to_thread(canceling.join)
    code, out, _ = told[0]
    assert code == 0
    assert "Run run-1: canceled" in out
    assert read_status(results_dir, "run-1").state == "canceled"
    code, out, _ = shell("results", "run-1", "--json")
    assert code == 3
    assert len(json.loads(out)["trials"]) == 2
    with pytest.raises(RequestError, match="has ended already: it is canceled"):
        request_cancel(results_dir, "run-1")
    assert shell("cancel", "run-1")[0] == 2


async def test_results_are_shown_while_a_run_goes_on(make_deps, make_plan, shell):
    deps = make_deps()
    seen = []

    def tell(progress):
        if progress.trial is not None and not seen:
            seen.append(shell("results", "run-1", "--json"))

    plan = make_plan("builtin:null", num_trials=3, max_concurrency=1)
    report = await evaluate(plan, deps, request="r", on_progress=tell)
    code, out, complaint = seen[0]
    assert code == 3
    assert "run run-1 goes on" in complaint
    partial = json.loads(out)
    assert partial["trials"] == json.loads(report.to_json())["trials"][:1]
    assert partial["summary"][0]["trials"] == 1
    assert "2 of 3 trials not played" in partial["warnings"]
    code, out, complaint = shell("results", "run-1", "--json")
    assert (code, out, complaint) == (0, report.to_json(), "")
    code, out, _ = shell("results", "run-1")
    assert "Run run-1: complete" in out


def test_an_id_that_is_too_long_for_a_folder_is_no_run(tmp_path):
    with pytest.raises(RequestError, match="not the id of a run"):
        read_status(tmp_path, "x" * 5_000)
