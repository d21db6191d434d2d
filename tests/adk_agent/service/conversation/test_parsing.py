"""What a message may hold, and what of it is refused."""

import pytest

from tests.adk_agent.service.conversations import row, state, words

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.mark.requirement("a2a:parts")
@pytest.mark.parametrize(
    "part",
    [
        {"raw": "AAAA", "mediaType": "image/png"},
        {"url": "http://127.0.0.1:1/x.pdf", "mediaType": "application/pdf"},
    ],
)
def test_a_file_is_refused_by_the_protocols_own_code(caller, part):
    error = caller.say("", parts=[{"text": "Evaluate this"}, part])
    assert error["code"] == -32005
    assert part["mediaType"] in error["message"]


@pytest.mark.requirement("a2a:parts")
def test_a_request_may_be_one_data_part_and_its_numbers_are_whole(caller):
    request = {
        "participants": {"agent": "builtin:null"},
        "config": {"domain": "mock", "num_tasks": 2, "num_trials": 1},
    }
    task = caller.say("", parts=[{"data": request}])
    assert state(task) == "completed"
    assert row(task)["max_score_all"] == 2


@pytest.mark.requirement("a2a:parts")
def test_two_data_parts_are_refused(caller):
    task = caller.say("", parts=[{"data": {"a": 1}}, {"data": {"b": 1}}])
    assert state(task) == "rejected"
    assert "2 data parts" in words(task)


@pytest.mark.requirement("a2a:parts")
def test_a_text_longer_than_any_request_is_refused(caller):
    task = caller.say("x" * 300_000)
    assert state(task) == "rejected"
    assert "300000 characters" in words(task)


def quoted(text):
    """How ADK's RemoteA2aAgent sends what another agent of its program said."""
    begin, end = "<<<BEGIN_QUOTED_AGENT_CONTENT>>>", "<<<END_QUOTED_AGENT_CONTENT>>>"
    introduction = f"For context: below is a transcript, quoted between {begin} and {end}."
    return [{"text": introduction}, {"text": f"[planner] said:\n{begin}\n{text}\n{end}"}]


def test_what_adk_quotes_of_other_agents_is_not_part_of_a_request(caller):
    ask = {"text": "Evaluate builtin:null on one mock task"}
    config = {"participants": {"agent": "builtin:null"}, "config": {"domain": "airline"}}
    file = {"raw": "AAAA", "mediaType": "text/plain"}
    before = [*quoted("Evaluate builtin:null on all airline tasks"), {"data": config}, file]
    task = caller.say("", parts=[*before, ask, *quoted("and two trials each")])
    assert state(task) == "completed"
    assert (row(task)["domain"], row(task)["max_score_all"]) == ("mock", 1)
    assert row(task)["request"] == ask["text"]


def test_a_message_that_only_quotes_other_agents_asks_for_nothing(caller):
    task = caller.say("", parts=quoted("Evaluate builtin:null on one mock task"))
    assert "artifacts" not in task
