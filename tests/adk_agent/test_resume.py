"""What becomes of a run whose process is gone: nothing is lost, and nothing is played twice."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adk_agent.cli.main import main
from adk_agent.errors import PreflightError, RequestError, StorageError
from adk_agent.evaluation import evaluate, report_so_far, resume
from adk_agent.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results import results_so_far
from adk_agent.runs import load_report, load_trials
from adk_agent.testing import manual_runtime
from adk_agent.tracking import read_status, tracked_run
from tau_bridge.testing import scripted_agent, serve

PLAYER = Path(__file__).with_name("killable_player.py")
TASKS = ("create_task_1", "update_task_1", "impossible_task_1")
TRIALS = 10
KILLS, CHAINS = 10, 3
VOLATILE = re.compile(r"run_id|created_at|trace_id|step_id|.*_ms|.*_time|details|value")


@pytest.fixture(scope="module")
def agent():
    with serve(scripted_agent(lambda text, context_id: "I cannot help with that.")) as url:
        yield url


def plan_of(agent, **changes):
    tasks = (PlannedTasks(domain="mock", task_ids=TASKS),)
    fields = {"num_trials": TRIALS, "max_concurrency": 2, **changes}
    return EvaluationPlan(participants=(Participant(address=agent),), tasks=tasks, **fields)


def lasting(value):
    """A report's JSON without what differs from run to run."""
    if isinstance(value, dict):
        return {k: lasting(v) for k, v in value.items() if not VOLATILE.fullmatch(k)}
    return [lasting(item) for item in value] if isinstance(value, list) else value


def lines_of(folder):
    path = folder / "trials.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


class Player:
    """The program of `killable_player.py`."""

    def __init__(self, folder, plan):
        self.folder = folder
        (folder / "plan.json").write_text(plan.model_dump_json())
        self._process = subprocess.Popen(
            [sys.executable, PLAYER, folder, folder / "plan.json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def play(self, run_id, *, kill_after=None):
        """Begin or go on; killed once this many more lines are there, where a number is given."""
        run = self.folder / run_id
        wanted = lines_of(run) + (kill_after or 0)
        self._process.stdin.write(f"{run_id}\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        if kill_after is not None:
            until = time.monotonic() + 60
            while lines_of(run) < wanted and time.monotonic() < until:
                time.sleep(0.001)  # another process; it has no other way to tell
            os.kill(pid, signal.SIGKILL)
        assert self._process.stdout.readline() == "ended\n"

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)


@pytest.fixture(scope="module")
def player(agent, tmp_path_factory):
    opened = Player(tmp_path_factory.mktemp("runs"), plan_of(agent))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def uninterrupted(player):
    player.play("whole")
    return load_report(player.folder, "whole")


@pytest.mark.parametrize("seed", range(CHAINS))
def test_a_run_killed_ten_times_at_random_ends_as_if_it_never_had_been(player, uninterrupted, seed):
    moments = random.Random(seed)  # noqa: S311 - the same moments every time
    run_id = f"killed-{seed}"
    folder = player.folder / run_id
    finished = {}
    for _ in range(KILLS):
        player.play(run_id, kill_after=moments.randrange(0, 4))
        if (folder / "status.json").exists():
            assert read_status(player.folder, run_id).state == "interrupted"
        if (folder / "manifest.json").exists():
            now = {record.key: record.row for record in load_trials(player.folder, run_id)}
            assert finished.items() <= now.items()
            finished = now
            if moments.random() < 0.3:
                with (folder / "trials.jsonl").open("ab") as file:
                    file.write(b'{"row": {"participant": "http')  # what a torn write leaves
    player.play(run_id)
    report = load_report(player.folder, run_id)
    lines = (folder / "trials.jsonl").read_text().splitlines()
    keys = [(row["task_id"], row["trial"]) for row in (json.loads(line)["row"] for line in lines)]
    assert len(keys) == len(set(keys)) == len(TASKS) * TRIALS
    killed, whole = (lasting(json.loads(each.to_json())) for each in (report, uninterrupted))
    assert killed == whole
    assert killed["status"] == read_status(player.folder, run_id).state == "complete"


def command(*arguments):
    return [sys.executable, "-m", "adk_agent.cli.main", *map(str, arguments)]


def greenroom(*arguments, cwd):
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=100, check=False, cwd=cwd
    )


def test_the_command_goes_on_with_a_run_that_was_killed(agent, tmp_path):
    process = subprocess.Popen(
        command("run", f"Evaluate {agent} on airline tasks 0 and 1, 40 trials each, one at a time"),
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
    assert 3 <= len(before["trials"]) < 80
    resumed = greenroom("resume", folder.name, "--quiet", "--json", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    after = json.loads(resumed.stdout)
    assert (after["status"], len(after["trials"])) == ("complete", 80)
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


async def test_a_finished_run_has_nothing_left_to_play(stopped):
    first = await resume("run-1", stopped)
    told = []
    again = await resume("run-1", stopped, on_progress=told.append)
    assert again == first
    assert not any(each.trial for each in told)
