"""What is done about a follow-up, by the runs of its conversation."""

import pytest

from tests.adk_agent.service.conversations import Caller, row, state, words

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.mark.parametrize(
    "text",
    ["status?", "show the failures", "why?", "show the report", "resume", "cancel it", "again"],
)
def test_what_is_about_no_evaluation_is_rejected_with_what_to_send(caller, text):
    task = caller.say(text)
    assert state(task) == "rejected"
    assert "There is no evaluation to speak of yet" in words(task)


def test_where_nothing_failed_there_is_nothing_to_run_again(caller):
    caller.say("Evaluate builtin:oracle on one mock task")
    task = caller.say("run the failed ones again")
    assert (state(task), "artifacts" in task) == ("completed", False)
    assert words(task).startswith("The one finished trial of run")
    assert "Nothing of it is missing" in words(caller.say("resume"))
    assert "nothing is running" in words(caller.say("cancel it")).lower()
    assert row(caller.say("run it again"))["score"] == 1


@pytest.mark.requirement("test:chaos")
def test_faults_are_asked_for_in_words_and_injected_again_by_a_repetition(caller):
    task = caller.say("Evaluate builtin:writes-twice on mock task update_task_1, inject duplicates")
    [first] = row(task)["robustness"]
    assert first["family"] == "duplicates"
    [again] = row(caller.say("run it again with seed 7"))["robustness"]
    assert again["family"] == "duplicates"
    refused = caller.say(
        """{"participants": {"agent": "builtin:null"}, "config": {"domain": "mock", "chaos": "al"}}"""
    )
    assert state(refused) == "rejected"
    assert "chaos 'al': there is no profile of faults 'al'" in words(refused)


def test_other_conversations_and_their_runs_are_not_spoken_of(caller, green):
    task = caller.say("Evaluate builtin:oracle on one mock task")
    stranger = Caller(url=green, context_id="another")
    assert "no evaluation to speak of" in words(stranger.say("status?"))
    refusal = stranger.say(f"show the report of run {row(task)['run_id']}")
    assert state(refusal) == "rejected"
    assert "does not belong to this conversation" in words(refusal)


def test_a_question_about_a_running_task_is_answered_at_once(caller, running):
    run_id = caller.run_of(running["id"])
    for named in ({}, {"taskId": running["id"]}):
        status = caller.say("how far are you?", **named)
        assert state(status) == "completed"
        assert f"Run {run_id} is running" in words(status)
    assert "None of the 0 finished trials" in words(caller.say("show the failures"))
    assert "is running: trial 0 of 1" in words(caller.say("show the results"))
    early = caller.say("export the report")
    assert (state(early), "Its report comes when it is over" in words(early)) == ("rejected", True)
    early = caller.say("resume")
    assert state(early) == "rejected"
    assert "say 'cancel it' first" in words(early)
