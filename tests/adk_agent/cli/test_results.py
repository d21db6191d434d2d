"""`greenroom results`, while a run goes on and of a run that never began."""

import json

import pytest

from adk_agent.core.errors import PreflightError
from adk_agent.play.evaluation import evaluate
from adk_agent.runs.tracking import tracked_run
from tests.fakes.runtime import manual_runtime

pytestmark = pytest.mark.usefixtures("quick_start")

CLOCK = manual_runtime().clock


def test_results_of_a_run_that_never_began_are_exit_3_and_say_why(shell, results_dir):
    with (
        pytest.raises(PreflightError),
        tracked_run(results_dir, "r1", request="r", clock=CLOCK),
    ):
        raise PreflightError("the agent is not ready")
    code, _, complaint = shell("results", "r1")
    assert code == 3
    assert "it is failed, and nothing was played: the agent is not ready" in complaint
    code, out, _ = shell("status", "r1")
    assert code == 0
    assert "why: the agent is not ready" in out


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
    assert "run run-1 is still running" in complaint
    partial = json.loads(out)
    assert partial["trials"] == json.loads(report.to_json())["trials"][:1]
    assert partial["summary"][0]["trials"] == 1
    assert "2 of 3 trials not played" in partial["warnings"]
    code, out, complaint = shell("results", "run-1", "--json")
    assert (code, out, complaint) == (0, report.to_json(), "")
    code, out, _ = shell("results", "run-1")
    assert "Run run-1: complete" in out


RUN = ["run", "--agent", "null", "--domain", "mock", "--task-ids", "create_task_1", "--offline"]


def test_a_run_whose_manifest_is_lost_names_the_file_and_not_that_nothing_was_played(
    shell, results_dir
):
    assert shell(*RUN, "--quiet")[0] == 0
    [manifest] = results_dir.glob("*/manifest.json")
    manifest.unlink()
    code, out, _ = shell("results")
    assert code == 0, "the report is whole"
    assert "complete" in out
    for command in (["resume"], ["export", "--to", "csv"]):
        code, _, complaint = shell(*command)
        assert code == 3
        assert "manifest.json" in complaint
        assert "nothing was played" not in complaint


def test_an_id_that_somebody_wrote_into_a_report_is_shown_as_text(shell, results_dir):
    assert shell(*RUN, "--quiet")[0] == 0
    [path] = results_dir.glob("*/report.json")
    report = json.loads(path.read_text())
    path.write_text(json.dumps({**report, "run_id": "r\x1b]0;x\x07\u202e[bold]y[/bold]"}))
    code, out, complaint = shell("results")
    assert code in (0, 3)
    assert not set(out + complaint) & {"\x1b", "\x07", "\u202e"}
    assert code == 3 or "[bold]y[/bold]" in out


def test_markdown_has_the_baseline_beside_the_run_and_says_where_there_is_none(shell):
    assert shell(*RUN, "--quiet")[0] == 0
    code, out, complaint = shell("results", "--markdown", "--baseline", "nowhere")
    assert code == 0
    assert out.startswith("### Greenroom: run ")
    assert "#### No baseline\n\n- there is no run 'nowhere'" in out
    assert "--baseline: there is no run 'nowhere'" in complaint
    assert shell(*RUN, "--quiet")[0] == 0
    code, out, complaint = shell("results", "--markdown", "--baseline", "previous")
    assert (code, complaint) == (0, "")
    assert "#### Against the baseline, run " in out
    assert "no significant difference" in out
    code, _, complaint = shell("results", "--baseline", "previous")
    assert code == 2
    assert "--baseline goes with --markdown" in complaint
