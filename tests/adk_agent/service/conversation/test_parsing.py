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
