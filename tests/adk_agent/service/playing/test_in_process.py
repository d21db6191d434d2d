"""The artifact of a run, made again from what is on disk."""

import pytest

from adk_agent.results.report import EvaluationReport
from adk_agent.service.playing.in_process import InProcessBackend
from tests.adk_agent.service.conversations import row

pytestmark = pytest.mark.usefixtures("quick_start")


async def test_the_artifact_of_an_interrupted_run_holds_what_was_finished(caller, assembly):
    task = caller.say("Evaluate builtin:null on one mock task, two trials")
    run_id = row(task)["run_id"]
    parts = await InProcessBackend(assembly).rebuilt_parts(run_id)
    assert [part.WhichOneof("content") for part in parts] == ["text", "data"]
    results_dir = assembly.settings.results_dir
    status = results_dir / run_id / "status.json"
    status.write_text(status.read_text().replace('"complete"', '"running"'))
    trials = results_dir / run_id / "trials.jsonl"
    trials.write_bytes(trials.read_bytes().splitlines(keepends=True)[0])
    [text, _] = await InProcessBackend(assembly).rebuilt_parts(run_id)
    assert "builtin:null in mock: 0 of 1 scored trials passed" in text.text
    report = EvaluationReport.model_validate_json(
        (results_dir / run_id / "report.json").read_bytes()
    )
    assert (report.status, len(report.trials)) == ("interrupted", 1)


@pytest.mark.parametrize("run_id", ["20260101-000000-000000", "../elsewhere", ""])
async def test_a_run_that_is_not_there_has_no_artifact(assembly, run_id):
    assert await InProcessBackend(assembly).rebuilt_parts(run_id) is None
