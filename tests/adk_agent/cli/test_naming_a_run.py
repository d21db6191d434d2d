"""How a person names a run, in every command that takes one."""

from pathlib import Path

import pytest

import greenroom
from adk_agent.core.errors import RequestError

RUN = ("run", "--domain", "mock", "--task-ids", "create_task_1", "--offline", "--quiet")


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """A folder of runs with two: an idle agent's, then the reference solution's."""
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("null", "oracle"):
        greenroom.evaluate(
            agent, "mock", tasks="create_task_1", results_dir=folder / "results", offline=True
        )
    return folder, *sorted(path.name for path in (folder / "results").iterdir())


@pytest.fixture
def say(greenroom_command, two_runs):
    """Runs a command in the folder above the runs; returns exit code and both streams as one."""
    return lambda *arguments, cwd=None: greenroom_command(*arguments, cwd=cwd or two_runs[0])


@pytest.fixture
def greenroom_command(greenroom):
    def run(*arguments, cwd):
        done = greenroom(*arguments, cwd=cwd, GREENROOM_RESULTS_DIR="results")
        return done.returncode, done.stdout + done.stderr

    return run


@pytest.mark.parametrize(
    "command",
    [
        ("status", "{}"),
        ("results", "{}"),
        ("view", "{}", "--no-open"),
        ("export", "{}", "--to", "junit", "--out", "-"),
        ("resume", "{}", "--offline"),
        ("ask", "why did task create_task_1 fail?", "--run", "{}"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_takes_every_name(say, two_runs, command):
    folder, before, after = two_runs
    names = {
        "latest": after,
        "previous": before,
        before: before,
        f"results/{before}": before,
        f"results/{before}/report.json": before,
        str(folder / "results" / after): after,
    }
    for name, meant in names.items():
        code, said = say(*(word.format(name) for word in command))
        assert (code, meant in said) == (0, True), (name, said)


def test_a_run_is_named_by_the_folder_that_one_is_in(say, two_runs):
    folder, before, _ = two_runs
    code, said = say("status", ".", cwd=folder / "results" / before)
    assert code == 0
    assert before in said


def test_two_runs_are_compared_by_age(say, two_runs):
    _, before, after = two_runs
    code, said = say("compare", "previous", "latest")
    assert code == 0
    assert f"Run {after} against run {before}" in said


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("20991231-000000-ffffff", "there is no run '20991231-000000-ffffff' in 'results'"),
        ("no/where", "there is no run at 'no/where': it is not there"),
        ("./results", "is a folder of runs; name one of them, such as"),
        ("..", "is not the folder of a run"),
    ],
)
@pytest.mark.parametrize("command", ["status", "view", "resume", "cancel"])
def test_a_run_that_is_not_there_is_exit_2_with_a_way_on(say, command, name, problem):
    code, said = say(command, name)
    assert code == 2
    assert problem in said
    assert "Traceback" not in said


def test_the_id_that_is_nearest_is_named(say, two_runs):
    code, said = say("status", two_runs[2][:-1] + "x")
    assert code == 2
    assert f"the nearest: {two_runs[2]}" in said


def test_without_a_run_or_with_one_the_way_on_is_said(greenroom_command, tmp_path):
    assert greenroom_command("status", "latest", cwd=tmp_path)[0] == 2
    assert "start one: greenroom run" in greenroom_command("view", "previous", cwd=tmp_path)[1]
    assert greenroom_command(*RUN, "--agent", "null", cwd=tmp_path)[0] == 0
    code, said = greenroom_command("results", "previous", cwd=tmp_path)
    assert code == 2
    assert "there is one run in 'results', and none before it" in said


def test_a_run_that_never_began_is_the_latest_only_of_its_state(greenroom_command, tmp_path):
    assert greenroom_command(*RUN, "--agent", "null", cwd=tmp_path)[0] == 0
    assert greenroom_command(*RUN, "--agent", "http://127.0.0.1:9", cwd=tmp_path)[0] == 3
    failed, good = sorted((path.name for path in (tmp_path / "results").iterdir()), reverse=True)
    assert failed in greenroom_command("status", cwd=tmp_path)[1]
    for command in (
        ("view", "--no-open"),
        ("results", "latest"),
        ("export", "--to", "junit", "--out", "-"),
        ("ask", "why did it fail?"),
    ):
        code, said = greenroom_command(*command, cwd=tmp_path)
        assert (code, good in said) == (0, True), said


def test_python_takes_the_same_names(two_runs, monkeypatch):
    folder, before, after = two_runs
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GREENROOM_RESULTS_DIR", raising=False)
    for name, meant in {
        "latest": after,
        "previous": before,
        before: before,
        Path("results") / before: before,
        f"results/{after}/report.json": after,
    }.items():
        assert greenroom.load_report(name).run_id == meant
    found = greenroom.compare("previous", "latest")
    assert (found.first_run, found.second_run) == (before, after)
    assert after in greenroom.ask("show the results", run="latest", offline=True).text
    with pytest.raises(RequestError, match="there is no run 'nope'"):
        greenroom.ask("show the results", run="nope", offline=True)


def test_what_only_looks_like_an_age_is_an_id(say, two_runs):
    folder, before, _ = two_runs
    named = folder / "results" / "latest-good"
    named.symlink_to(folder / "results" / before)
    code, said = say("status", "latest-good")
    named.unlink()
    assert code == 0
    assert before in said
