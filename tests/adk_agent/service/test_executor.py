"""Conversations with the green agent over A2A: several messages in one context."""

import pytest

from adk_agent.runs.store import load_report
from tests.adk_agent.service.conversations import TIMEOUT_S, row, state, words

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.mark.parametrize(
    "text", ["Hello", "help", "what can you do?", "Book me a flight", "what is the floor?"]
)
def test_an_answer_is_a_completed_task_without_an_artifact(caller, text):
    task = caller.say(text)
    assert state(task) == "completed"
    assert words(task)
    assert "artifacts" not in task


def test_a_greeting_is_answered_while_it_is_streamed_too(caller):
    events = list(caller.events("SendStreamingMessage", {"message": caller.message("Hello")}))
    assert [list(event) for event in events] == [["task"], ["statusUpdate"], ["statusUpdate"]]
    assert "Evaluate builtin:echo" in words(events[-1]["statusUpdate"])


def test_a_conversation_about_an_evaluation(caller, assembly):
    first = caller.say("Evaluate builtin:null and builtin:oracle on the first two mock tasks")
    assert state(first) == "completed"
    run_id = row(first)["run_id"]
    failed = {t["task_id"] for t in row(first)["trials"] if t["reward"] != 1}
    assert failed

    status = caller.say("how far are you?")
    assert f"Run {run_id} is {row(first)['status']}: 4 of 4 trials played" in words(status)
    assert "artifacts" not in status

    failures = words(caller.say("show the failures"))
    assert all(f"builtin:null mock {task_id} trial 0" in failures for task_id in failed)
    assert "builtin:oracle" not in failures
    assert "gave up before the work was done" in words(caller.say("why did they fail?"))
    task_id = min(failed)
    assert "From the conversation" in words(caller.say(f"why did task {task_id} fail?"))
    assert "| builtin:null | mock |" in words(caller.say("show the results"))
    assert row(caller.say("show the report"))["run_id"] == run_id

    again = caller.say("run the failed ones again")
    assert state(again) == "completed"
    assert {t["task_id"] for t in row(again)["trials"]} == failed
    plans = [
        load_report(assembly.settings.results_dir, row(t)["run_id"]).plan for t in (first, again)
    ]
    assert plans[0].participants == plans[1].participants
    assert row(again)["request"] == f"run the failed ones again (run {run_id})"

    compared = words(caller.say("compare the last two runs"))
    assert f"Run {row(again)['run_id']} against run {run_id}" in compared
    more = caller.say("the same with two trials")
    assert {t["trial"] for t in row(more)["trials"]} == {0, 1}

    # From here on that run is the latest one.
    assert row(more)["run_id"] in words(caller.say("status?"))
    assert run_id in words(caller.say(f"status of run {run_id}"))


def test_two_contradictory_requests_in_one_context_are_two_tasks(caller):
    first = caller.say("Evaluate builtin:null on one mock task")
    second = caller.say("Evaluate builtin:oracle on one mock task")
    assert first["id"] != second["id"]
    assert first["contextId"] == second["contextId"] == caller.context_id
    assert [row(task)["participant"] for task in (first, second)] == [
        "builtin:null",
        "builtin:oracle",
    ]


def test_a_running_evaluation_is_canceled_by_a_word(caller, waiting):
    url, asked, left = waiting
    asked.clear()
    left.clear()
    task = caller.begin(f"Evaluate {url} on one mock task")
    assert asked.wait(TIMEOUT_S)
    answer = caller.say("please cancel it")
    assert (state(answer), words(answer).split(":")[0]) == ("completed", "Canceled")
    assert left.wait(TIMEOUT_S)
    assert state(caller.task(task["id"])) == "canceled"
