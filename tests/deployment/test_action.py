"""The action for GitHub: its steps, performed in order as a runner performs them."""

import contextlib
import json
import os
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import httpx
import pytest
import yaml

from tests.deployment.github_runner import Comments, Runner
from tests.fakes import closed_port, serve

pytestmark = [pytest.mark.requirement("use:action"), pytest.mark.usefixtures("quick_start")]

ROOT = Path(__file__).parents[2]
ACTION = (ROOT / "action.yml").read_text(encoding="utf-8")
INSTALL = "Install Greenroom"
SETUP = "actions/setup-python@a26af69be951a213d495a4c3e4e4022e16d87065"
OFFLINE = {"domain": "mock", "num_tasks": "3", "flags": "--offline\n--seed=7\n"}


@pytest.fixture
def comments():
    return Comments()


@pytest.fixture
def runner(tmp_path, programs_that_start_at_once, comments):
    """A runner in whose place of the installation this checkout's own programs are put."""
    temp, workspace = tmp_path / "temp", tmp_path / "workspace"
    for folder in (temp, workspace):
        folder.mkdir()

    def install():
        programs = temp / "greenroom" / "bin"
        programs.mkdir(parents=True)
        for name in ("python", "greenroom"):
            (programs / name).symlink_to(programs_that_start_at_once / name)

    with serve(comments.app()) as api:
        yield Runner(
            action=ACTION,
            temp=temp,
            workspace=workspace,
            replaced={SETUP: lambda: 0, INSTALL: install},
            environment={
                "HOME": str(tmp_path),
                "GITHUB_API_URL": api,
                "GITHUB_REPOSITORY": "an-owner/an-agent",
                "GREENROOM_DATA_DIR": os.environ["GREENROOM_DATA_DIR"],
            },
            github={
                "action_path": str(ROOT),
                "token": comments.token,
                "event.pull_request.number": "7",
            },
        )


def again(runner):
    """Another job: the same comments, and new folders."""
    for path in runner.temp.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    runner.log = runner.summary = ""
    return runner


def ask_until_it_is_gone(url):
    """An agent that was told to end does so soon, or the test's own time limit ends this."""
    while True:
        with contextlib.suppress(httpx.RemoteProtocolError, httpx.ReadError):  # it is just ending
            httpx.get(f"{url}/.well-known/agent-card.json")


def test_nothing_is_interpolated_into_a_script_and_every_action_is_pinned_by_its_hash():
    steps = yaml.safe_load(ACTION)["runs"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    assert len(scripts) == 7
    assert not any("${{" in script for script in scripts)
    used = [step["uses"] for step in steps if "uses" in step]
    assert [re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", each) is not None for each in used] == [
        True
    ]
    pinned_by_ci = {
        step["uses"]
        for job in yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"].values()
        for step in job["steps"]
        if "uses" in step
    }
    assert f"{SETUP} # v5.6.0" in ACTION
    assert "actions/setup-python@v5.6.0" in pinned_by_ci  # the version of that hash


def test_every_input_is_used_and_every_used_one_is_declared():
    action = yaml.safe_load(ACTION)
    used = set(re.findall(r"inputs\.([\w-]+)", ACTION))
    assert used == set(action["inputs"])
    assert all(each["description"] for each in action["inputs"].values())


def test_a_good_agent_passes_with_files_a_summary_and_one_comment(runner, comments):
    code, outputs = runner.run(agent="oracle", fail_under="0.9", **OFFLINE)
    assert (code, outputs["exit-code"]) == (0, "0"), runner.log
    run = Path(outputs["run"])
    cases = ET.parse(run / "junit.xml").getroot().iter("testcase")  # noqa: S314 - our own file
    assert len(list(cases)) == 3
    assert "<html" in (run / "report.html").read_text()
    assert json.loads((run / "report.json").read_text())["plan"]["seed"] == 7
    assert "| builtin:oracle | mock | 3 |" in runner.summary
    [comment] = comments.kept
    assert comment["body"] == f"<!-- greenroom: greenroom -->\n{runner.summary}"
    assert runner.performed[-1] == "Verdict"


def test_a_gate_that_fails_ends_with_1_and_files_and_comment_are_written(runner, comments):
    code, outputs = runner.run(agent="null", fail_under="0.9", **OFFLINE)
    assert (code, outputs["exit-code"]) == (1, "1")
    run = Path(outputs["run"])
    assert (run / "junit.xml").exists()
    assert (run / "report.html").exists()
    assert "Why trials did not pass" in comments.kept[0]["body"]
    assert "::error::greenroom ended with exit code 1" in runner.log


def test_an_agent_is_started_waited_for_and_stopped(runner):
    with closed_port() as url:
        pass
    port = url.rpartition(":")[2]
    greenroom = runner.temp / "greenroom" / "bin" / "greenroom"
    command = f"echo begun; '{greenroom}' agent null --port {port} & wait"
    code, outputs = runner.run(agent=url, agent_command=command, **OFFLINE)
    assert code == 0, runner.log
    assert outputs["run"]
    assert "begun" in (runner.temp / "greenroom-agent.log").read_text()
    assert runner.performed.index("Stop the agent") > runner.performed.index("Evaluate")
    with pytest.raises(httpx.ConnectError):
        ask_until_it_is_gone(url)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo no such key >&2; exit 5", "its command ended"),
        ("exec sleep 100", "no card was served within 1 s"),
    ],
)
def test_an_agent_that_never_starts_ends_with_3_and_nothing_is_played(
    runner, comments, command, why
):
    with closed_port() as url:
        code, outputs = runner.run(agent=url, agent_command=command, agent_timeout="1", **OFFLINE)
    assert code == 3
    assert f"::error::the agent did not start: {why}" in runner.log
    assert ("no such key" in runner.log) == ("key" in command)
    assert "Evaluate" not in runner.performed
    assert runner.performed[-1] == "Stop the agent"
    assert outputs["run"] == ""
    assert comments.kept == []


def test_an_agent_that_does_not_answer_is_3_and_the_summary_says_that_nothing_was_played(
    runner, comments
):
    with closed_port() as url:
        code, outputs = runner.run(agent=url, **OFFLINE)
    assert (code, outputs["exit-code"], outputs["run"]) == (3, "3", "")
    assert "nothing was played\n\nExit code 3" in runner.summary
    assert "nothing was played" in comments.kept[0]["body"]


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        ({"agent": "nul"}, 2, "null"),
        ({"agent": "null", "fail_under": "7"}, 2, "--fail-under"),
        ({"agent": "null", "flags": "--offline\n--sed=7"}, 2, "--seed"),
        ({"agent": "null", "agent_command": "true"}, 2, "agent-url"),
        ({"agent": "http://x", "agent_command": "true", "agent_timeout": "1m"}, 2, "agent-timeout"),
        ({"agent": "null", "name": "a --> b"}, 2, "name is 'a --> b'"),
    ],
)
def test_an_input_that_cannot_be_used_is_2_and_says_which(runner, given, code, words):
    assert runner.run(**{**OFFLINE, **given})[0] == code
    assert words in runner.log


HOSTILE = ("$(touch pwned)", "`touch pwned`", "'; touch pwned; '", '"; touch pwned; "')
STARTING = ("agent", "agent_url", "agent_timeout")
EVALUATING = (
    "agent",
    "config",
    "domain",
    "num_tasks",
    "num_trials",
    "fail_under",
    "fail_under_faults",
    "flags",
    "request",
)
SHOWING = ("baseline", "fail_on_regression", "name", "comment_author")


@pytest.mark.slow
@pytest.mark.parametrize("attack", HOSTILE)
def test_no_input_is_run_by_the_shell(runner, attack):
    unsafe = {*STARTING, *EVALUATING, *SHOWING, "fail_on_repeated_writes"}
    others = {"python_version", "agent_command", "comment", "token"}  # of no script, or a command
    assert {name.replace("-", "_") for name in yaml.safe_load(ACTION)["inputs"]} == unsafe | others
    for name in STARTING:
        given = {"agent": "http://x", "agent_command": "true", name: attack}
        assert runner.run(**given)[0] == 2
        again(runner)
    assert runner.run(**dict.fromkeys(EVALUATING, attack))[0] == 2
    again(runner).run(agent="null", **OFFLINE, **dict.fromkeys(SHOWING, attack))
    assert "Comment on the pull request" in runner.performed
    assert not list(runner.workspace.iterdir())


@pytest.mark.slow
def test_a_later_run_replaces_the_comment_and_leaves_those_of_others_alone(runner, comments):
    marker = "<!-- greenroom: greenroom -->"
    comments.add(f"{marker}\nquoted by somebody", "somebody")
    comments.add("<!-- greenroom: other -->\nanother comment of ours", comments.login)
    for number in range(120):  # more than a page
        comments.add(f"remark {number}", "somebody")
    before = [dict(each) for each in comments.kept]
    assert runner.run(agent="null", **OFFLINE)[0] == 0
    assert len(comments.kept) == 123
    first = comments.kept[-1]["body"]
    assert again(runner).run(agent="oracle", **OFFLINE)[0] == 0
    assert len(comments.kept) == 123
    assert comments.kept[-1]["body"] != first
    assert "builtin:oracle" in comments.kept[-1]["body"]
    assert comments.kept[:-1] == before


@pytest.mark.parametrize("fault", ["forbidden", "token", "gone"])
def test_a_comment_that_may_not_be_written_is_a_warning_and_the_run_counts(runner, comments, fault):
    if fault == "forbidden":
        comments.forbidden = True
    elif fault == "token":
        comments.token = "another"
    with closed_port() as nobody:
        if fault == "gone":
            runner.environment["GITHUB_API_URL"] = nobody
        code, _ = runner.run(agent="null", **OFFLINE)
    assert code == 0
    assert "::warning::the comment could not be written: " in runner.log
    assert ("pull-requests: write" in runner.log) == (fault != "gone")
    assert comments.kept == []
    assert "a-token" not in runner.log


def test_without_a_pull_request_nothing_is_commented(runner, comments):
    runner.github["event.pull_request.number"] = ""
    assert runner.run(agent="null", **OFFLINE)[0] == 0
    assert comments.requests == []


@pytest.fixture
def baseline(runner):
    """The folder of a run of the agent that solves everything."""
    options = {"domain": "mock", "flags": "--offline", "num_trials": "4"}
    _, outputs = runner.run(agent="oracle", **options)
    kept = runner.workspace / "baseline"
    shutil.copytree(outputs["run"], kept)
    again(runner)
    return {"baseline": "baseline", **options}


@pytest.mark.slow
def test_a_regression_against_the_baseline_is_told_and_fails_where_that_is_asked_for(
    runner, comments, baseline
):
    code, _ = runner.run(agent="null", **baseline)
    assert code == 0
    assert "Against the baseline" in comments.kept[0]["body"]
    assert "**worse**" in comments.kept[0]["body"]
    assert "difference -" in comments.kept[0]["body"]
    code, outputs = again(runner).run(agent="null", fail_on_regression="true", **baseline)
    assert (code, outputs["exit-code"]) == (1, "1")
    assert again(runner).run(agent="oracle", fail_on_regression="true", **baseline)[0] == 0


@pytest.mark.slow
def test_a_baseline_of_other_data_is_stale_and_decides_nothing(runner, comments, baseline):
    path = runner.workspace / "baseline" / "report.json"
    report = json.loads(path.read_text())
    for row in report["summary"]:
        row["data"]["revision"] = "of-another-year"
    path.write_text(json.dumps(report))
    assert runner.run(agent="oracle", **baseline)[0] == 0
    assert "**The baseline is stale, nothing is compared**" in comments.kept[0]["body"]
    assert again(runner).run(agent="oracle", fail_on_regression="true", **baseline)[0] == 3


def test_a_baseline_that_is_not_there_is_told(runner, comments):
    code, _ = runner.run(agent="oracle", baseline="nowhere/at-all", **OFFLINE)
    assert code == 0
    assert "#### No baseline" in comments.kept[0]["body"]
    assert "nowhere/at-all" in comments.kept[0]["body"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_step_that_installs_makes_a_greenroom_of_this_checkout(runner):
    def set_up():
        runner.known["steps.python.outputs.python-path"] = sys._base_executable

    runner.replaced = {SETUP: set_up}
    runner.environment["HOME"] = os.environ["HOME"]  # pip's settings
    runner.environment |= {k: v for k, v in os.environ.items() if k.startswith("PIP_")}
    runner.most_seconds = 500
    code, outputs = runner.run(agent="oracle", **OFFLINE)
    if runner.performed[-1] == INSTALL:
        pytest.skip(f"the packages cannot be fetched here: {runner.log[-200:]}")
    assert code == 0, runner.log
    assert outputs["run"]
