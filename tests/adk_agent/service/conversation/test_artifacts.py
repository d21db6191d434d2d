"""The artifact of an evaluation: its row, its report, and when it counts as failed."""

from __future__ import annotations

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.service.conversation.artifacts import report_data
from tests.adk_agent.service.conversations import row, state, words
from tests.fakes import http_status, serve

pytestmark = pytest.mark.usefixtures("quick_start")


async def test_without_references_floor_and_ceiling_are_those_that_were_measured(
    make_deps, make_plan
) -> None:
    row = report_data(await evaluate(make_plan("builtin:echo"), make_deps(), request=""))
    assert (row["floor"], row["ceiling"]) == (0.0, 100.0)


@pytest.mark.slow
def test_an_evaluation_of_which_most_trials_broke_has_failed_and_keeps_its_report(caller):
    with serve(http_status(503, "out of order")) as url:
        task = caller.say(f"Evaluate {url} on three mock tasks")
        assert state(task) == "failed"
        assert "3 of 3 trials failed" in words(task)
        assert "pass_rate" not in row(task)
        assert "out of order" in words(caller.say("why?"))
        resumed = caller.say("resume")
    assert row(resumed)["run_id"] == row(task)["run_id"]
    assert state(resumed) == "failed"
