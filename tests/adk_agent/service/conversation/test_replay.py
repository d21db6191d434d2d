"""Plans that are made of earlier ones."""

import pytest

from tests.adk_agent.service.conversations import row

pytestmark = pytest.mark.usefixtures("quick_start")


def test_a_sample_is_told_and_its_failed_tasks_are_none(caller):
    sample = "the tasks are a sample: 3 of 9 mock tasks, drawn across kinds of task (seed 300)"
    first = caller.say("Evaluate builtin:null on three mock tasks")
    assert [each for each in row(first)["warnings"] if each.startswith(sample)]
    again = caller.say("run the failed ones again")
    assert row(again)["trials"]
    assert not [each for each in row(again)["warnings"] if "sample" in each]
