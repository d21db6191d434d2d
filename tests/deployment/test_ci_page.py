"""The pipelines that docs/ci.md shows: GitHub's names inputs of the action, GitLab's is performed."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.fakes import closed_port

pytestmark = pytest.mark.usefixtures("quick_start")

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/ci.md").read_text(encoding="utf-8")
GITHUB, GITLAB = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.M | re.S))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


@pytest.mark.requirement("use:action")
def test_the_workflow_gives_inputs_and_reads_outputs_that_the_action_has():
    steps = GITHUB["jobs"]["evaluate"]["steps"]
    [step] = [step for step in steps if step.get("id") == "greenroom"]
    assert step["with"].keys() <= ACTION["inputs"].keys()
    used = re.findall(r"steps\.greenroom\.outputs\.([\w-]+)", str(steps))
    assert set(used) <= ACTION["outputs"].keys()
    assert GITHUB["permissions"] == {"contents": "read", "pull-requests": "write"}


def test_the_page_lists_all_inputs_and_outputs():
    shown = re.findall(r"^\| ((?:`[\w-]+`(?:, )?)+) \|", PAGE, re.M)
    named = {name for cell in shown for name in re.findall(r"`([\w-]+)`", cell)}
    assert named == ACTION["inputs"].keys() | ACTION["outputs"].keys()


@pytest.mark.slow
def test_gitlabs_job_gates_and_leaves_its_files(tmp_path, programs_that_start_at_once, monkeypatch):
    with closed_port() as url:
        port = url.rpartition(":")[2]
    job = GITLAB["evaluate"]
    installs, script = job["script"][:2], job["script"][2:]
    assert all(line.startswith("pip install ") for line in installs)
    moved = "\n".join(script).replace(":9010", f":{port}")
    moved = moved.replace("python my_agent.py", f"greenroom agent null --port {port}")
    monkeypatch.setenv("PATH", f"{programs_that_start_at_once}:/usr/bin:/bin")
    for name, value in job["variables"].items():
        monkeypatch.setenv(name, value)
    with (tmp_path / "log").open("w") as output:  # a pipe would stay open as long as the agent
        ended = subprocess.run(
            ["bash", "-e", "-c", f"trap 'kill %1' EXIT\n{moved}"],
            cwd=tmp_path,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=100,
            check=False,
        )
    log = (tmp_path / "log").read_text()
    assert ended.returncode == 1, log
    assert "is below 0.6" in log
    for path in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]):
        assert (tmp_path / path).exists()
