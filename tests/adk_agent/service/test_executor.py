"""Conversations with the green agent over A2A: several messages in one context."""

import itertools
import json
import threading
import uuid
from dataclasses import dataclass

import httpx
import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings
from adk_agent.results.report import EvaluationReport
from adk_agent.runs.store import load_report
from adk_agent.service.playing.in_process import InProcessPlayer
from adk_agent.service.server import build_service
from tau_bridge.testing import http_status, serve

pytestmark = pytest.mark.usefixtures("quick_start")

TIMEOUT_S = 120
NUMBERS = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Speaks JSON-RPC 1.0 to the green agent in one context."""

    url: str
    context_id: str

    def call(self, method, params):
        body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}
        headers = {"A2A-Version": "1.0"}
        answer = httpx.post(self.url, json=body, headers=headers, timeout=TIMEOUT_S).json()
        return answer.get("result") or answer["error"]

    def message(self, text, **fields):
        parts = fields.pop("parts", [{"text": text}])
        return {
            "messageId": str(uuid.uuid4()),
            "contextId": self.context_id,
            "role": "ROLE_USER",
            "parts": parts,
            **fields,
        }

    def say(self, text, **fields):
        """The task that a message leads to, once it is over."""
        result = self.call("SendMessage", {"message": self.message(text, **fields)})
        return result.get("task", result)

    def begin(self, text):
        """The task that a message leads to, as soon as there is one."""
        configuration = {"returnImmediately": True}
        params = {"message": self.message(text), "configuration": configuration}
        return self.call("SendMessage", params)["task"]

    def task(self, task_id):
        return self.call("GetTask", {"id": task_id})

    def run_of(self, task_id):
        """The run that a task began, once it has."""
        while "progress" not in (metadata := self.task(task_id).get("metadata", {})):
            threading.Event().wait(0.02)
        return metadata["progress"]["run_id"]

    def events(self, method, params):
        body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}
        headers = {"A2A-Version": "1.0"}
        with httpx.stream(
            "POST", self.url, json=body, headers=headers, timeout=TIMEOUT_S
        ) as response:
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))["result"]


def words(task):
    return task["status"]["message"]["parts"][0]["text"]


def state(task):
    return task["status"]["state"].removeprefix("TASK_STATE_").lower()


def row(task):
    [artifact] = task["artifacts"]
    [_, data] = artifact["parts"]
    return data["data"]


@pytest.fixture(scope="module")
def assembly(benchmarks, tmp_path_factory):
    settings = Settings(results_dir=tmp_path_factory.mktemp("results"), offline=True)
    return Assembly(settings=settings, benchmarks=benchmarks, timeout_s=60)


@pytest.fixture(scope="module")
def green(assembly):
    app = build_service(assembly, card_url="http://127.0.0.1:1/").app
    with serve(app) as url:
        yield url


@pytest.fixture
def caller(green):
    return Caller(url=green, context_id=str(uuid.uuid4()))


@pytest.fixture(scope="module")
def waiting(unanswering):
    """An agent that never answers; it says when it was asked, and when nobody waits any more."""
    with unanswering() as agent:
        yield agent


@pytest.fixture
def running(caller, waiting):
    """A task whose only trial waits for an answer; canceled at the end."""
    url, asked, left = waiting
    asked.clear()
    left.clear()
    task = caller.begin(f"Evaluate {url} on one mock task")
    assert asked.wait(TIMEOUT_S)
    yield task
    caller.call("CancelTask", {"id": task["id"]})
    assert left.wait(TIMEOUT_S)


# --- what is not a follow-up --------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Hello", "help", "what can you do?"])
def test_a_greeting_is_a_completed_task_without_an_artifact(caller, text):
    task = caller.say(text)
    assert state(task) == "completed"
    assert "Evaluate the agent at http://localhost:9010" in words(task)
    assert "artifacts" not in task


def test_a_greeting_is_answered_while_it_is_streamed_too(caller):
    events = list(caller.events("SendStreamingMessage", {"message": caller.message("Hello")}))
    assert [list(event) for event in events] == [["task"], ["statusUpdate"]]
    assert "Send a sentence" in words(events[-1]["statusUpdate"])


def test_what_nobody_understands_is_rejected_with_what_to_send(caller):
    task = caller.say("Book me a flight")
    assert state(task) == "rejected"
    assert "Send a sentence such as" in words(task)


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


# --- follow-ups to an evaluation that is over ---------------------------------------------------


@pytest.mark.parametrize("text", ["status?", "show the failures", "why?", "show the report"])
def test_a_question_about_nothing_is_answered_with_what_to_send(caller, text):
    task = caller.say(text)
    assert state(task) == "completed"
    assert "no evaluation in this conversation yet" in words(task)


@pytest.mark.parametrize("text", ["run the failed ones again", "resume", "cancel it", "again"])
def test_an_order_about_nothing_is_rejected_with_what_to_send(caller, text):
    task = caller.say(text)
    assert state(task) == "rejected"
    assert "no evaluation in this conversation yet" in words(task)


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
    assert "DB is 0" in words(caller.say("why did they fail?"))
    assert row(caller.say("show the report"))["run_id"] == run_id

    again = caller.say("run the failed ones again")
    assert state(again) == "completed"
    assert {t["task_id"] for t in row(again)["trials"]} == failed
    plans = [
        load_report(assembly.settings.results_dir, row(t)["run_id"]).plan for t in (first, again)
    ]
    assert plans[0].participants == plans[1].participants
    assert row(again)["request"] == f"run the failed ones again (run {run_id})"

    # From here on the run of the failed ones is the latest one.
    assert row(again)["run_id"] in words(caller.say("status?"))
    assert run_id in words(caller.say(f"status of run {run_id}"))


def test_a_sample_is_told_and_its_failed_tasks_are_none(caller):
    sample = "3 of 9 mock tasks: a sample stratified by kind of task (seed 300)"
    first = caller.say("Evaluate builtin:null on three mock tasks")
    assert [each for each in row(first)["warnings"] if each.startswith(sample)]
    again = caller.say("run the failed ones again")
    assert row(again)["trials"]
    assert not [each for each in row(again)["warnings"] if "sample" in each]


def test_where_nothing_failed_there_is_nothing_to_run_again(caller):
    caller.say("Evaluate builtin:oracle on one mock task")
    task = caller.say("run the failed ones again")
    assert (state(task), "artifacts" in task) == ("completed", False)
    assert words(task).startswith("None of the 1 finished trials")
    assert "Nothing of it is missing" in words(caller.say("resume"))
    assert "nothing is running" in words(caller.say("cancel it")).lower()
    assert row(caller.say("run it again"))["score"] == 1


def test_a_follow_up_may_name_the_finished_task_that_it_is_about(caller):
    first = caller.say("Evaluate builtin:null on one mock task")
    caller.say("Evaluate builtin:oracle on one mock task")
    status = caller.say("status?", taskId=first["id"])
    assert status["id"] != first["id"]
    assert status["contextId"] == first["contextId"]
    assert row(first)["run_id"] in words(status)
    error = caller.say("Evaluate builtin:null on two mock tasks", taskId=first["id"])
    assert error["code"] == -32004


def test_other_conversations_and_their_runs_are_not_spoken_of(caller, green):
    task = caller.say("Evaluate builtin:oracle on one mock task")
    stranger = Caller(url=green, context_id="another")
    assert "no evaluation in this conversation yet" in words(stranger.say("status?"))
    refusal = stranger.say(f"show the report of run {row(task)['run_id']}")
    assert state(refusal) == "rejected"
    assert "does not belong to this conversation" in words(refusal)


def test_two_contradictory_requests_in_one_context_are_two_tasks(caller):
    first = caller.say("Evaluate builtin:null on one mock task")
    second = caller.say("Evaluate builtin:oracle on one mock task")
    assert first["id"] != second["id"]
    assert first["contextId"] == second["contextId"] == caller.context_id
    assert [row(task)["participant"] for task in (first, second)] == [
        "builtin:null",
        "builtin:oracle",
    ]


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


# --- follow-ups to an evaluation that goes on ---------------------------------------------------


def test_a_question_about_a_running_task_is_answered_at_once(caller, running):
    run_id = caller.run_of(running["id"])
    for named in ({}, {"taskId": running["id"]}):
        status = caller.say("how far are you?", **named)
        assert state(status) == "completed"
        assert f"Run {run_id} is running" in words(status)
    assert "None of the 0 finished trials" in words(caller.say("show the failures"))
    assert "Its report comes when it is over" in words(caller.say("show the report"))
    early = caller.say("resume")
    assert state(early) == "rejected"
    assert "say 'cancel it' first" in words(early)


def test_an_evaluation_may_be_asked_for_while_another_one_runs(caller, running):
    task = caller.say("Evaluate builtin:oracle on one mock task", taskId=running["id"])
    assert task["id"] != running["id"]
    assert row(task)["score"] == 1
    assert state(caller.task(running["id"])) == "working"


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


# --- after a kill -------------------------------------------------------------------------------


async def test_the_artifact_of_an_interrupted_run_holds_what_was_finished(caller, assembly):
    task = caller.say("Evaluate builtin:null on one mock task, two trials")
    run_id = row(task)["run_id"]
    parts = await InProcessPlayer(assembly).rebuilt_parts(run_id)
    assert [part.WhichOneof("content") for part in parts] == ["text", "data"]
    results_dir = assembly.settings.results_dir
    status = results_dir / run_id / "status.json"
    status.write_text(status.read_text().replace('"complete"', '"running"'))
    trials = results_dir / run_id / "trials.jsonl"
    trials.write_bytes(trials.read_bytes().splitlines(keepends=True)[0])
    [text, _] = await InProcessPlayer(assembly).rebuilt_parts(run_id)
    assert "builtin:null in mock: 0 of 1 scored trials passed" in text.text
    report = EvaluationReport.from_json((results_dir / run_id / "report.json").read_bytes())
    assert (report.status, len(report.trials)) == ("interrupted", 1)


@pytest.mark.parametrize("run_id", ["20260101-000000-000000", "../elsewhere", ""])
async def test_a_run_that_is_not_there_has_no_artifact(assembly, run_id):
    assert await InProcessPlayer(assembly).rebuilt_parts(run_id) is None
