"""Watching and ending evaluations over A2A: poll, resubscribe, progress, cancel, many at once."""

import itertools
import json
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import anyio
import httpx
import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings
from adk_agent.runs.store import load_report, load_trials
from adk_agent.runs.tracking import read_status, run_ids
from adk_agent.service.server import build_app
from tests.fakes import scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")

TIMEOUT_S = 120
NUMBERS = itertools.count(1)
SPEAK = {
    "1.0": {
        "send": "SendMessage", "get": "GetTask", "cancel": "CancelTask",
        "subscribe": "SubscribeToTask", "stream": "SendStreamingMessage",
    },
    "0.3": {
        "send": "message/send", "get": "tasks/get", "cancel": "tasks/cancel",
        "subscribe": "tasks/resubscribe", "stream": "message/stream",
    },
}  # fmt: skip


class Client:
    """JSON-RPC of one protocol version; states come back in the words of 0.3."""

    def __init__(self, url, version):
        self.url, self.version = url, version

    def body(self, what, params):
        method = SPEAK[self.version][what]
        return {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}

    @property
    def headers(self):
        return {"A2A-Version": "1.0"} if self.version == "1.0" else {}

    def call(self, what, params):
        answer = httpx.post(
            self.url, json=self.body(what, params), headers=self.headers, timeout=TIMEOUT_S
        ).json()
        result = answer["result"]
        return result.get("task", result)

    def message(self, text, *, waits=True):
        message = {"messageId": str(uuid.uuid4()), "role": "user", "parts": [{"text": text}]}
        if self.version == "1.0":
            message["role"] = "ROLE_USER"
            return {"message": message, "configuration": {"returnImmediately": not waits}}
        message["parts"] = [{"kind": "text", "text": text}]
        return {"message": message, "configuration": {"blocking": waits}}

    def events(self, what, params):
        with httpx.stream(
            "POST",
            self.url,
            json=self.body(what, params),
            headers=self.headers,
            timeout=TIMEOUT_S,
        ) as response:
            for line in response.iter_lines():
                if line.startswith("data:"):
                    result = json.loads(line.removeprefix("data:"))["result"]
                    yield next(iter(result.values())) if self.version == "1.0" else result

    @staticmethod
    def state(thing):
        name = thing["status"]["state"]
        return name.removeprefix("TASK_STATE_").lower().replace("_", "-")


@pytest.fixture
def green(tmp_path, benchmarks):
    settings = Settings(results_dir=tmp_path / "results", offline=True)
    assembly = Assembly(settings=settings, benchmarks=benchmarks, timeout_s=60)
    with serve(build_app(assembly, card_url="http://127.0.0.1:1/")) as url:
        yield url


@pytest.fixture(params=["1.0", "0.3"])
def client(green, request):
    return Client(green, request.param)


@pytest.fixture
def gate():
    """An agent that answers once it may."""
    asked, may_answer = threading.Event(), threading.Event()

    async def wait_and_answer(_text, _context):
        asked.set()
        await anyio.to_thread.run_sync(may_answer.wait, TIMEOUT_S, abandon_on_cancel=True)
        return json.dumps({"name": "respond", "arguments": {"content": "###STOP###"}})

    with serve(scripted_agent(wait_and_answer)) as url:
        yield url, asked, may_answer
        may_answer.set()


@pytest.fixture
def listening(unanswering):
    """An agent that never answers; it says when it was asked, and when nobody waits any more."""
    with unanswering() as agent:
        yield agent


def words(thing):
    return thing["status"]["message"]["parts"][0]["text"]


def test_a_task_is_given_back_at_once_polled_and_subscribed_to_again(client, gate):
    url, asked, may_answer = gate
    task = client.call("send", client.message(f"Evaluate {url} on one mock task", waits=False))
    assert client.state(task) in {"submitted", "working"}
    assert asked.wait(TIMEOUT_S)
    assert client.state(client.call("get", {"id": task["id"]})) == "working"
    events = client.events("subscribe", {"id": task["id"]})
    assert next(events)["id"] == task["id"]
    may_answer.set()
    states = [client.state(event) for event in events if "status" in event]
    assert states[-1] == "completed"
    ended = client.call("get", {"id": task["id"]})
    assert client.state(ended) == "completed"
    assert len(ended["artifacts"]) == 1


def test_cancel_closes_the_conversations_and_leaves_the_report_and_the_state(
    client, listening, tmp_path
):
    url, asked, left = listening
    sentence = f"Evaluate {url} and builtin:null on one mock task, two trials each"
    events = client.events("stream", client.message(sentence))
    task_id = next(events)["id"]
    assert asked.wait(TIMEOUT_S)
    [run_id] = run_ids(tmp_path / "results")
    while read_status(tmp_path / "results", run_id).progress.done < 2:
        threading.Event().wait(0.02)
    canceled = client.call("cancel", {"id": task_id})
    assert client.state(canceled) == "canceled"
    assert "canceled after 2 of 4 trials" in words(canceled)
    report = load_report(tmp_path / "results", run_id)
    assert (report.status, len(report.trials)) == ("interrupted", 2)
    assert left.wait(TIMEOUT_S)
    stored = client.call("get", {"id": task_id})
    assert client.state(stored) == "canceled"
    [artifact] = stored["artifacts"]
    assert artifact["parts"][1]["data"]["status"] == "interrupted"
    assert client.state(list(events)[-1]) == "canceled"


def test_an_evaluation_is_canceled_before_anything_is_played(green):
    client = Client(green, "1.0")
    task = client.call("send", client.message("Evaluate builtin:null on retail", waits=False))
    canceled = client.call("cancel", {"id": task["id"]})
    assert client.state(canceled) == "canceled"
    assert client.state(client.call("get", {"id": task["id"]})) == "canceled"


def test_an_interrupted_run_is_resumed_in_its_conversation(green, gate, tmp_path):
    url, asked, may_answer = gate
    client = Client(green, "1.0")
    task = client.call("send", client.message(f"Evaluate {url} on one mock task", waits=False))
    assert asked.wait(TIMEOUT_S)
    client.call("cancel", {"id": task["id"]})
    may_answer.set()
    resume = client.message("go on")
    resume["message"]["contextId"] = task["contextId"]
    resumed = client.call("send", resume)
    assert client.state(resumed) == "completed"
    [run_id] = run_ids(tmp_path / "results")
    assert resumed["artifacts"][0]["parts"][1]["data"]["run_id"] == run_id
    assert len(load_trials(tmp_path / "results", run_id)) == 1


def test_progress_is_counted_in_metadata_and_told_in_words_a_few_times(green):
    client = Client(green, "1.0")
    request = {
        "participants": {"agent": "builtin:null"},
        "config": {"domain": "mock", "num_tasks": 1, "num_trials": 60},
    }
    events = list(client.events("stream", client.message(json.dumps(request))))
    updates = [e["metadata"]["progress"] for e in events if "progress" in e.get("metadata", {})]
    assert updates[0]["stage"] == "preparing"
    assert (updates[-1]["stage"], updates[-1]["done"]) == ("finished", 60)
    assert [u["done"] for u in updates] == sorted(u["done"] for u in updates)
    told = [words(e) for e in events if "message" in e.get("status", {})]
    assert told[0].startswith("preparing")
    assert told[-1] == "trial 60 of 60, 0 passed"
    assert len(told) <= 24


def test_ten_evaluations_at_once_each_get_their_own_result(green, tmp_path):
    pairs = [
        (agent, domain)
        for agent in ("builtin:null", "builtin:oracle")
        for domain in ("mock", "airline")
    ]
    asked = [(*pairs[n % 4], 1 + n // 4 % 2) for n in range(10)]

    def evaluate(agent, domain, trials):
        request = {
            "participants": {"agent": agent},
            "config": {"domain": domain, "num_tasks": 1, "num_trials": trials},
        }
        task = Client(green, "1.0").call("send", Client(green, "1.0").message(json.dumps(request)))
        return task["artifacts"][0]["parts"][1]["data"]

    with ThreadPoolExecutor(10) as pool:
        rows = list(pool.map(lambda each: evaluate(*each), asked))
    got = [(row["participant"], row["domain"], row["max_score_all"]) for row in rows]
    assert got == asked
    assert {row["participant"]: row["pass_rate"] for row in rows if row["domain"] == "mock"} == {
        "builtin:null": 0,
        "builtin:oracle": 100,
    }
    assert sorted(run_ids(tmp_path / "results")) == sorted(row["run_id"] for row in rows)


def test_what_an_exception_says_is_logged_once_and_not_sent(green, caplog, monkeypatch):
    def broken(_self):
        message = "the secret is 42"
        raise OSError(message)

    monkeypatch.setattr(Assembly, "pipeline", broken)
    client = Client(green, "1.0")
    task = client.call("send", client.message("Evaluate builtin:null on one mock task"))
    assert client.state(task) == "failed"
    assert "secret" not in json.dumps(task)
    [record] = [r for r in caplog.records if r.exc_info and "secret" in str(r.exc_info[1])]
    assert record.name == "adk_agent.service.playing.in_process"
