"""Follow-ups that name a task get a task of their own."""

import pytest

from tests.adk_agent.service.conversations import row, state, words

pytestmark = pytest.mark.usefixtures("quick_start")


def test_a_follow_up_may_name_the_finished_task_that_it_is_about(caller):
    first = caller.say("Evaluate builtin:null on one mock task")
    caller.say("Evaluate builtin:oracle on one mock task")
    status = caller.say("status?", taskId=first["id"])
    assert status["id"] != first["id"]
    assert status["contextId"] == first["contextId"]
    assert row(first)["run_id"] in words(status)
    error = caller.say("Evaluate builtin:null on two mock tasks", taskId=first["id"])
    assert error["code"] == -32004


def test_an_evaluation_may_be_asked_for_while_another_one_runs(caller, running):
    task = caller.say("Evaluate builtin:oracle on one mock task", taskId=running["id"])
    assert task["id"] != running["id"]
    assert row(task)["score"] == 1
    assert state(caller.task(running["id"])) == "working"
