"""What becomes of a run whose process is gone: nothing is lost, and nothing is played twice."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import get_args

import pytest

from adk_agent.cli.main import main
from adk_agent.errors import PreflightError, RequestError, StorageError
from adk_agent.evaluation import evaluate, report_so_far, resume
from adk_agent.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results import results_so_far
from adk_agent.retry import is_repeated
from adk_agent.runs import load_trials
from adk_agent.settings import Settings
from adk_agent.testing import manual_runtime
from adk_agent.tracking import read_status, tracked_run
from adk_agent.versions import versions
from evals.outcome import Fault
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.testing import scripted_agent, serve

TASKS = ("create_task_1", "update_task_1", "impossible_task_1")
NOBODY = 65_534
REFUSING = NetworkPolicy.public()
"""Calls nothing on this machine."""


@pytest.fixture(scope="module")
def agent():
    with serve(scripted_agent(lambda text, context_id: "I cannot help with that.")) as url:
        yield url


def plan_of(agent, **changes):
    tasks = (PlannedTasks(domain="mock", task_ids=TASKS),)
    fields = {"num_trials": 1, "max_concurrency": 2, **changes}
    return EvaluationPlan(participants=(Participant(address=agent),), tasks=tasks, **fields)


def command(*arguments):
    return [sys.executable, "-m", "adk_agent.cli.main", *map(str, arguments)]


def greenroom(*arguments, cwd):
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=100, check=False, cwd=cwd
    )


def test_the_command_goes_on_with_a_run_that_was_killed(agent, tmp_path):
    process = subprocess.Popen(
        command("run", f"Evaluate {agent} on airline tasks 0 and 1, 20 trials each, one at a time"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    for line in process.stdout:
        if line.startswith("[3/"):
            process.kill()
    process.wait(60)
    process.stdout.close()
    (folder,) = (tmp_path / "results").iterdir()
    told = greenroom("status", cwd=tmp_path)
    assert f"Run {folder.name}: interrupted" in told.stdout
    assert f"go on with: greenroom resume {folder.name}" in told.stdout
    partial = greenroom("results", "--json", cwd=tmp_path)
    assert partial.returncode == 3
    before = json.loads(partial.stdout)
    assert before["status"] == "interrupted"
    assert 3 <= len(before["trials"]) < 40
    resumed = greenroom("resume", folder.name, "--quiet", "--json", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    after = json.loads(resumed.stdout)
    assert (after["status"], len(after["trials"])) == ("complete", 40)
    assert [row for row in after["trials"] if row in before["trials"]] == before["trials"]
    assert "## Summary" in (folder / "report.md").read_text()


def test_a_run_that_is_not_there_cannot_go_on(tmp_path, capsys):
    folder = ("--results-dir", str(tmp_path))
    assert main(["resume", "nope", *folder]) == 2
    assert "there is no run 'nope'" in capsys.readouterr().err
    assert main(["resume", "../secret", *folder]) == 2
    assert "is not the id of a run" in capsys.readouterr().err


def test_a_run_of_which_nothing_was_begun_has_to_be_started_again(tmp_path, capsys):
    clock = manual_runtime().clock
    with (
        pytest.raises(PreflightError),
        tracked_run(tmp_path, "dead", request="r", clock=clock),
    ):
        raise PreflightError("the agent is not ready")
    assert main(["resume", "dead", "--results-dir", str(tmp_path)]) == 3
    assert "(the agent is not ready); start it again" in capsys.readouterr().err


@pytest.fixture
async def stopped(agent, make_deps):
    """What a run of six trials needs that broke off after two."""

    class StopError(Exception):
        pass

    def tell(progress):
        if progress.done == 2:
            raise StopError

    deps = make_deps()
    plan = plan_of(agent, num_trials=2, max_concurrency=1)
    with pytest.raises(StopError):
        await evaluate(plan, deps, request="stopped", on_progress=tell)
    return deps


async def test_what_is_missing_is_played_and_nothing_else(stopped):
    before = (stopped.results_dir / "run-1" / "trials.jsonl").read_bytes()
    told = []
    report = await resume("run-1", stopped, on_progress=told.append)
    after = (stopped.results_dir / "run-1" / "trials.jsonl").read_bytes()
    assert after.startswith(before)
    assert after.count(b"\n") == 6
    assert report.status == "complete"
    assert next(each for each in told if each.stage == "playing").message == "playing 4 trials"


async def test_half_a_last_line_is_taken_away_and_its_trial_played_again(stopped):
    path = stopped.results_dir / "run-1" / "trials.jsonl"
    text = path.read_bytes()
    path.write_bytes(text[:-40])
    assert len(load_trials(stopped.results_dir, "run-1")) == 1
    await resume("run-1", stopped)
    lines = path.read_bytes().splitlines()
    assert len(lines) == 6
    assert all(json.loads(line) for line in lines)


async def test_a_whole_line_that_cannot_be_read_is_named_and_nothing_is_played(stopped):
    path = stopped.results_dir / "run-1" / "trials.jsonl"
    first, rest = path.read_bytes().split(b"\n", 1)
    path.write_bytes(first[:-10] + b"\n" + rest)
    with pytest.raises(StorageError, match="line 1 is not a trial"):
        await resume("run-1", stopped)


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"versions": {"greenroom": "other"}}, "version of greenroom: test then, other now"),
        ({"versions": {}}, "version of greenroom: test then, None now"),
    ],
)
async def test_another_version_is_refused_with_what_differs(
    stopped, make_deps, changes, difference
):
    with pytest.raises(RequestError, match=difference):
        await resume("run-1", make_deps(**changes))
    assert len(load_trials(stopped.results_dir, "run-1")) == 2


async def test_other_data_is_refused_with_what_differs(stopped, make_deps, make_source):
    task = {"id": TASKS[0], "user_scenario": {"instructions": "Hi."}, "evaluation_criteria": None}
    with pytest.raises(RequestError, match=r"data of mock: .* then, .* now"):
        await resume("run-1", make_deps(source=make_source(task)))


async def test_a_run_that_is_being_played_is_refused(stopped):
    clock = stopped.runtime.clock
    with tracked_run(stopped.results_dir, "run-1", request="", clock=clock):
        with pytest.raises(RequestError, match="being played"):
            await resume("run-1", stopped)
        with pytest.raises(RequestError, match="being played"):
            await report_so_far("run-1", stopped)


async def test_failed_trials_are_played_again_and_the_later_line_counts(make_deps):
    broken = True

    def reply(text, context_id):
        if broken:
            raise ConnectionError
        return "I cannot help with that."

    with serve(scripted_agent(reply)) as url:
        deps = make_deps()
        first = await evaluate(plan_of(url, num_trials=1), deps, request="r")
        assert {row.status for row in first.trials} == {"failed"}
        broken = False
        second = await resume("run-1", deps)
    assert {row.status for row in second.trials} == {"scored"}
    assert second.status == "complete"
    lines = (deps.results_dir / "run-1" / "trials.jsonl").read_bytes().splitlines()
    assert len(lines) == 6
    assert [record.row for record in load_trials(deps.results_dir, "run-1")] != list(first.trials)
    _, latest = results_so_far(deps.results_dir, "run-1")
    assert latest == second


async def test_a_report_that_is_older_than_the_trials_beside_it_is_not_shown(stopped):
    directory = stopped.results_dir / "run-1"
    old = (directory / "report.json").read_bytes()
    await resume("run-1", stopped)
    (directory / "report.json").write_bytes(old)
    status = read_status(stopped.results_dir, "run-1").model_copy(update={"state": "interrupted"})
    (directory / "status.json").write_text(status.model_dump_json())
    _, shown = results_so_far(stopped.results_dir, "run-1")
    assert len(shown.trials) == 6


def files_of(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.mark.parametrize("retry", ["failed", "unscored"])
async def test_a_finished_run_has_nothing_left_to_play_and_is_left_as_it_is(stopped, retry):
    first = await resume("run-1", stopped)
    before = files_of(stopped.results_dir / "run-1")
    told = []
    assert await resume("run-1", stopped, retry=retry, on_progress=told.append) == first
    assert told == []
    assert files_of(stopped.results_dir / "run-1") == before


async def test_a_finished_run_needs_neither_its_agents_nor_its_versions(stopped, make_deps):
    first = await resume("run-1", stopped)
    assert await resume("run-1", make_deps(versions={"greenroom": "other"})) == first


def resumed(results_dir, *flags):
    return main(["resume", "run-1", "--results-dir", str(results_dir), "--quiet", *flags])


async def test_the_command_says_that_nothing_is_left_to_play(stopped, capsys):
    await resume("run-1", stopped)
    report = stopped.results_dir / "run-1" / "report.md"
    assert resumed(stopped.results_dir) == 0
    assert "nothing of run run-1 is left to play\n" in capsys.readouterr().err
    assert "## Summary" in report.read_text()  # which the process did not come to write
    before = files_of(stopped.results_dir / "run-1")
    assert resumed(stopped.results_dir, "--json") == 0
    assert json.loads(capsys.readouterr().out)["status"] == "complete"
    assert files_of(stopped.results_dir / "run-1") == before


@pytest.mark.parametrize(
    ("retry", "repeated"),
    [
        ("failed", {"infrastructure", "user", "harness"}),
        ("unscored", {"infrastructure", "user", "harness", "agent", "unscored"}),
        ("all", {"infrastructure", "user", "harness", "agent", "unscored", "scored"}),
    ],
)
async def test_what_is_played_again_depends_on_who_was_at_fault(stopped, retry, repeated):
    report = await resume("run-1", stopped)
    row = report.trials[0]
    ends = {fault: {"status": "failed", "fault": fault} for fault in get_args(Fault)}
    ends |= {"unscored": {"status": "unscored"}, "scored": {"status": "scored", "reward": 1.0}}
    rows = {name: row.model_copy(update={"reward": None, **end}) for name, end in ends.items()}
    assert {name for name, each in rows.items() if is_repeated(each, retry)} == repeated


async def test_all_trials_are_played_again_where_that_is_asked_for(stopped):
    first = await resume("run-1", stopped)
    again = await resume("run-1", stopped, retry="all")
    lines = (stopped.results_dir / "run-1" / "trials.jsonl").read_bytes().splitlines()
    assert len(lines) == 2 * len(first.trials) == 2 * len(again.trials) == 12


async def test_an_agent_that_gives_up_is_asked_again_only_where_that_is_asked_for(
    make_deps, capsys
):
    with serve(scripted_agent(lambda text, context_id: "no", state="failed")) as url:
        deps = make_deps()
        first = await evaluate(plan_of(url), deps, request="r")
        assert {(row.status, row.fault) for row in first.trials} == {("failed", "agent")}
        assert await resume("run-1", deps) == first
        assert resumed(deps.results_dir) == 3
        assert "; 3 trials have no score: --retry unscored plays them" in capsys.readouterr().err
        await resume("run-1", deps, retry="unscored")
    lines = (deps.results_dir / "run-1" / "trials.jsonl").read_bytes().splitlines()
    assert len(lines) == 6


async def test_another_language_model_is_refused_by_name_and_address_without_the_key(
    stopped, make_deps
):
    secret = {"llm_api_key": "sk-secret", "llm_base_url": "http://me:pw@models.test/v1"}
    settings = Settings.load(**secret, llm_model="tiny")
    with pytest.raises(RequestError) as caught:
        await resume("run-1", make_deps(settings=settings))
    told = str(caught.value)
    assert "model of the judge: rules then, tiny at http://models.test/v1 now" in told
    assert "model of the user: scripted then, tiny at http://models.test/v1 now" in told
    assert "secret" not in told
    assert "pw" not in told


async def test_a_run_whose_models_are_not_known_goes_on_with_a_warning(stopped):
    path = stopped.results_dir / "run-1" / "manifest.json"
    fields = json.loads(path.read_text())
    assert fields.pop("models") == {"user": "scripted", "judge": "rules"}
    path.write_text(json.dumps(fields))
    report = await resume("run-1", stopped)
    assert report.status == "complete"
    assert any("did not note its language models" in text for text in report.warnings)


async def test_a_run_that_cannot_go_on_keeps_what_it_has(stopped, make_deps):
    path = stopped.results_dir / "run-1" / "trials.jsonl"
    before = path.read_bytes()
    with pytest.raises(PreflightError):
        await resume("run-1", make_deps(new_messenger=lambda: Messenger(policy=REFUSING)))
    status = read_status(stopped.results_dir, "run-1")
    assert (status.state, path.read_bytes()) == ("interrupted", before)
    assert "not ready" in status.problem


def test_the_command_refuses_a_run_that_another_process_plays(agent, make_deps, capsys):
    deps = make_deps(versions=versions(), settings=Settings.load(offline=True))
    asyncio.run(evaluate(plan_of(agent), deps, request="r"))
    with tracked_run(deps.results_dir, "run-1", request="", clock=deps.runtime.clock):
        assert resumed(deps.results_dir, "--offline", "--retry", "all") == 2
    assert "run run-1 is being played by another process" in capsys.readouterr().err


@pytest.fixture
def read_only():
    """Makes a folder that cannot be written to, wherever the test runs, root's machine too."""
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as undo:
        folder = Path(name)

        def forbid():
            for path in [folder, *folder.rglob("*")]:
                path.chmod(0o555 if path.is_dir() else 0o444)
                undo.callback(path.chmod, 0o755)
            if os.geteuid() == 0:
                os.seteuid(NOBODY)
                undo.callback(os.seteuid, 0)

        yield folder, forbid


def test_a_results_folder_that_is_read_only_can_be_read_and_is_named_otherwise(
    agent, make_deps, read_only, capsys
):
    folder, forbid = read_only
    deps = make_deps(results_dir=folder, versions=versions(), settings=Settings.load(offline=True))
    asyncio.run(evaluate(plan_of(agent), deps, request="r"))
    assert resumed(folder) == 0  # writes what there is to say of it
    forbid()
    where = ("--results-dir", str(folder))
    assert main(["status", "run-1", *where]) == 0
    assert main(["results", "run-1", *where]) == 0
    assert resumed(folder) == 0
    assert "complete" in capsys.readouterr().out
    assert resumed(folder, "--offline", "--retry", "all") == 3
    assert f"cannot use '{folder}/run-1" in capsys.readouterr().err
    assert main(["cancel", "run-1", *where]) == 2  # it has ended
    with pytest.raises(StorageError, match=f"cannot use '{folder}/new"):
        asyncio.run(evaluate(plan_of(agent), deps, request="r", run_id="new"))
