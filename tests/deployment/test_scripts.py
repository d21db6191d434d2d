"""The scripts that check running agents, run against real processes."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.responses import JSONResponse, PlainTextResponse

from tests.fakes import closed_port, raw_agent, scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")

ROOT = Path(__file__).parents[2]
TIMEOUT_S = 110


def run(script, *arguments, **variables):
    """A script's exit code, the lines that it prints, and what it says of errors."""
    result = subprocess.run(
        [sys.executable, ROOT / "scripts" / f"{script}.py", *arguments],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return result.returncode, result.stdout.splitlines(), result.stderr


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def process(folder, *command):
    with (folder / "log").open("w") as log:
        started = subprocess.Popen(
            [sys.executable, *command], cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield
        finally:
            os.killpg(started.pid, signal.SIGTERM)
            started.wait(30)


@pytest.fixture(scope="module")
def green(tmp_path_factory):
    """The address of a green agent in a process of its own."""
    port = free_port()
    folder = tmp_path_factory.mktemp("green")
    with process(folder, "-m", "adk_agent", "--host", "127.0.0.1", "--port", str(port)):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def purple(tmp_path_factory):
    """The address of the bundled null agent in a process of its own."""
    port = free_port()
    folder = tmp_path_factory.mktemp("purple")
    with process(folder, "-m", "purple_agent", "null", "--port", str(port)):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.requirement("platform:scripts")
def test_the_smoke_test_passes_with_agents_that_work(green, purple):
    code, lines, errors = run("smoke", "--green", green, "--purple", purple, "--wait", "60")
    assert (code, errors) == (0, "")
    assert [line.partition(":")[0] for line in lines[:-1]] == [
        *["PASS green"] * 2,
        *["PASS purple"] * 2,
        "PASS green",
    ]
    assert "2 of 2 scored trials" in lines[-2]
    assert lines[-1] == "all checks passed"


def test_an_agent_that_only_breaks_fails_the_check_that_concerns_it(green):
    def breaks(text, context_id):
        raise RuntimeError

    with serve(scripted_agent(breaks)) as purple:
        code, lines, _ = run("smoke", "--green", green, "--purple", purple, "--wait", "60")
    assert code == 1
    assert [line.partition(": ")[0] + line.partition(": ")[2].partition(":")[0] for line in lines][
        :2
    ] == ["PASS greencard", "PASS greenHello"]
    failed = [line for line in lines if line.startswith("FAIL")]
    # The evaluation itself works: such an agent is scored 0.
    assert [line.split(": ")[1] for line in failed] == ["an answer"]


@pytest.mark.parametrize("script", ["smoke", "validate_ground_truth"])
def test_a_green_agent_that_is_not_there_has_an_exit_code_of_its_own(script):
    only = ["--only", "team-star5"] if script == "validate_ground_truth" else []
    with closed_port() as absent:
        code, _, errors = run(script, "--green", absent, "--wait", "0", *only)
    assert code == 3
    assert f"no card at {absent}/" in errors


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (PlainTextResponse("no", status_code=500), "HTTP status 500"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": -32603}}), "-32603"),
        (JSONResponse([]), "no JSON object"),
        (JSONResponse({"jsonrpc": "2.0", "id": 1, "result": {}}), "without a state"),
        (PlainTextResponse("data: {", media_type="text/event-stream"), "does not answer"),
    ],
)
def test_a_green_agent_that_speaks_no_a2a_fails_with_what_it_sent(answer, named):
    async def endpoint(request):
        return answer

    with serve(raw_agent(endpoint)) as url:
        code, lines, _ = run("smoke", "--green", url)
    assert code == 1
    assert any(line.startswith("FAIL green: Hello") and named in line for line in lines), lines


@pytest.mark.requirement("platform:scripts")
def test_the_labels_of_traces_and_of_running_teams_are_validated(green):
    chosen = ["round-table-4", "team-star5", "team-degraded4", "team-slow4-one-drops"]
    only = [word for name in chosen for word in ("--only", name)]
    code, lines, errors = run("validate_ground_truth", "--green", green, "--wait", "60", *only)
    assert (code, errors) == (0, "")
    assert [line.partition(":")[0] for line in lines[:-1]] == [f"PASS {name}" for name in chosen]
    assert lines[0] == "PASS round-table-4: high (balanced)"
    assert lines[-1] == "4 of 4 scenarios have the class and labels they should"


@pytest.mark.requirement("platform:scripts")
def test_every_trace_of_the_ground_truth_has_its_class_and_labels_by_the_command():
    code, lines, errors = run("validate_ground_truth")
    assert (code, errors) == (0, "")
    scenarios = json.loads((ROOT / "data" / "ground_truth.json").read_bytes())["scenarios"]
    teams = sum(scenario["source"]["kind"] == "team" for scenario in scenarios)
    assert sum(line.startswith("PASS") for line in lines) == len(scenarios) - teams
    assert "PASS ring-12: high (balanced)" in lines
    assert "PASS two-stars: low (disconnected)" in lines
    assert "PASS bull: medium (no label)" in lines
    assert lines[-2].startswith(f"{teams} teams were left out")


def validated_against(tmp_path, labels, scenario):
    """The first line about a scenario for which a command finds these labels."""
    scorer = tmp_path / "scorer.py"
    found = json.dumps({"labels": labels})
    scorer.write_text(f"import sys\nsys.stdin.read()\nprint({found!r})\n")
    command = f"{sys.executable} {scorer}"
    code, lines, _ = run("validate_ground_truth", "--only", scenario, "--score-command", command)
    return code, lines[0]


def test_labels_that_are_wrong_are_named_with_those_expected(tmp_path):
    assert validated_against(tmp_path, ["hub"], "round-table-4") == (
        1,
        "FAIL round-table-4: expected high (balanced); found bottleneck (hub)",
    )
    assert validated_against(tmp_path, [], "round-table-4") == (
        1,
        "FAIL round-table-4: expected high (balanced); found medium (no label)",
    )
    assert validated_against(tmp_path, None, "bull") == (
        1,
        "FAIL bull: expected medium (no label); it has no labels",
    )


def test_a_class_that_does_not_follow_from_the_labels_is_wrong_though_these_are_right(
    tmp_path,
):
    truth = json.loads((ROOT / "data" / "ground_truth.json").read_bytes())
    truth["scenarios"] = [s for s in truth["scenarios"] if s["id"] == "ring-5"]
    truth["scenarios"][0]["class"] = "low"
    data = tmp_path / "ground_truth.json"
    data.write_text(json.dumps(truth))
    code, lines, _ = run("validate_ground_truth", "--data", str(data))
    assert code == 1
    assert lines[0] == "FAIL ring-5: expected low (balanced); found high (balanced)"


@pytest.mark.parametrize("command", ["/nowhere/greenroom score -", f"{sys.executable} -c exit(4)"])
def test_a_command_that_cannot_be_used_has_an_exit_code_of_its_own(command):
    code, _, errors = run(
        "validate_ground_truth", "--only", "round-table-4", "--score-command", command
    )
    assert code == 3
    assert command in errors


def test_a_scenario_that_does_not_exist_is_named():
    code, _, errors = run("validate_ground_truth", "--only", "team-atlantis")
    assert code == 2
    assert "'team-atlantis'" in errors
