"""A service that is killed while it evaluates: what was finished is read, kept, and not repeated.

Run as a program, this file is the service. Everything is imported and read once; each line on stdin
forks a child that serves on the same socket. Its pid is printed, and "ended" once it is gone.
Arguments: results folder, file of the tasks.
"""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import uvicorn

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings
from adk_agent.service.options import ServiceOptions
from adk_agent.service.server import build_service
from tests.fakes import scripted_agent, serve
from tests.fakes.serving import listening_socket

KILLS, AT_ONCE = 8, 4
"""Each kill hits all evaluations that go on: 32 moments."""
TASKS = ("create_task_1", "update_task_1", "impossible_task_1")
TRIALS = 24
PATIENCE_S = 60.0
HEADERS = {"A2A-Version": "1.0"}


def main():
    import networkx  # noqa: F401 - before the fork, so that no child needs the time

    folder, tasks = Path(sys.argv[1]), Path(sys.argv[2])
    assembly = Assembly(settings=Settings.load(results_dir=folder, offline=True)).prepared()
    options = ServiceOptions(tasks=tasks)
    listener = listening_socket()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    tell(address)
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            app = build_service(assembly, card_url=address, options=options).app
            config = uvicorn.Config(app, log_config=None, lifespan="on")
            asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
            os._exit(0)
        tell(pid)
        os.waitpid(pid, 0)
        tell("ended")


def tell(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


class Service:
    """This file as a program, and a client of it."""

    def __init__(self, folder):
        self._process = subprocess.Popen(
            [sys.executable, __file__, folder / "results", folder / "tasks.db"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._address = self._process.stdout.readline().strip()
        assert self._address

    @contextmanager
    def life(self):
        """One child, killed without warning at the end; gives a client."""
        self._process.stdin.write("serve\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        try:
            with httpx.Client(base_url=self._address, timeout=PATIENCE_S) as http:
                yield Client(http)
                os.kill(pid, signal.SIGKILL)
                pid = None
        finally:
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
            assert self._process.stdout.readline() == "ended\n"

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)


class Client:
    def __init__(self, http):
        self._http = http

    def call(self, method, **params):
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return self._http.post("/", json=body, headers=HEADERS).json()["result"]

    def begin(self, text, **fields):
        message = {
            "messageId": str(uuid.uuid4()),
            "role": "ROLE_USER",
            "parts": [{"text": text}],
            **fields,
        }
        configuration = {"returnImmediately": True}
        return self.call("SendMessage", message=message, configuration=configuration)["task"]

    def get(self, task):
        return self.call("GetTask", id=task["id"])

    def when(self, task, is_so):
        """The task, once something is so of it."""
        until = time.monotonic() + PATIENCE_S
        while not is_so(found := self.get(task)) and time.monotonic() < until:
            time.sleep(0.01)  # another process; it has no other way to tell
        assert is_so(found), found["status"]
        return found


def progress_of(task):
    return task.get("metadata", {}).get("progress", {})


def has_ended(task):
    return task["status"]["state"] not in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")


def lines_of(results, run_id):
    """The whole lines of a run's trials, by what they are of."""
    path = results / run_id / "trials.jsonl"
    whole = path.read_bytes().rpartition(b"\n")[0].splitlines() if path.exists() else []
    rows = [(line, json.loads(line)["row"]) for line in whole]
    return [((row["task_id"], row["trial"]), line) for line, row in rows]


def broke(line):
    return json.loads(line)["row"]["status"] == "failed"


class Permits:
    """How often the agent may still answer: kills come between two answers, however fast they are."""

    def __init__(self):
        self._left = 0
        self._lock = threading.Lock()

    async def answer(self, _text, _context_id):
        while not self._taken():  # noqa: ASYNC110 - permits come from another thread
            await asyncio.sleep(0.002)
        return "I cannot help with that."

    def _taken(self):
        with self._lock:
            has_one = self._left > 0
            self._left -= has_one
            return has_one

    def give(self, count):
        """Let the agent answer so many times more."""
        with self._lock:
            self._left = count

    def use(self, count):
        """Until the agent has answered so many times more."""
        self.give(count)
        until = time.monotonic() + PATIENCE_S
        while self._left and time.monotonic() < until:
            time.sleep(0.001)  # the agent's thread; it has no other way to tell
        assert not self._left


def attached(task):
    """The trials in a task's artifact."""
    [artifact] = task.get("artifacts") or [None]
    rows = artifact["parts"][1]["data"]["trials"] if artifact else []
    return {(row["task_id"], int(row["trial"])) for row in rows}


@pytest.fixture
def service(tmp_path):
    opened = Service(tmp_path)
    yield opened
    opened.close()


def begin_all(client, agent):
    request = {
        "participants": {"agent": agent},
        "config": {"domain": "mock", "task_ids": TASKS, "num_trials": TRIALS},
    }
    return [client.begin(json.dumps(request)) for _ in range(AT_ONCE)]


@pytest.mark.slow
@pytest.mark.timeout(300)  # one start of a program, and nine lives of it
def test_killed_at_thirty_moments_nothing_finished_is_lost_or_repeated(service, tmp_path):
    moments = random.Random(4)  # noqa: S311 - the same moments every time
    results = tmp_path / "results"
    finished = [[] for _ in range(AT_ONCE)]
    permits = Permits()
    with serve(scripted_agent(permits.answer)) as agent:
        with service.life() as client:
            tasks = begin_all(client, agent)
            runs = [
                progress_of(client.when(task, lambda t: progress_of(t).get("run_id")))["run_id"]
                for task in tasks
            ]
            permits.use(moments.randrange(4, 30))
        for kill in range(KILLS):
            with service.life() as client:
                for number, run_id in enumerate(runs):
                    before, finished[number] = finished[number], lines_of(results, run_id)
                    assert finished[number][: len(before)] == before
                    told = client.get(tasks[number])
                    assert told["status"]["state"] == "TASK_STATE_FAILED"
                    # A task that was killed before its progress was stored knows no run yet: the
                    # task before it has the finished trials, and the next one has any new ones.
                    if progress_of(told):
                        assert attached(told) == {key for key, _ in finished[number]}
                    tasks[number] = client.begin("resume", contextId=told["contextId"])
                last = kill == KILLS - 1
                if last:
                    permits.give(AT_ONCE * len(TASKS) * TRIALS * 10)
                    ended = [client.when(task, has_ended) for task in tasks]
                else:
                    permits.use(moments.randrange(4, 30))
    everything = {(task_id, trial) for task_id in TASKS for trial in range(TRIALS)}
    for number, run_id in enumerate(runs):
        lines = lines_of(results, run_id)
        assert lines[: len(finished[number])] == finished[number]
        # A trial that a fault of the machine broke is played again, and is no finished one.
        assert sorted(key for key, line in lines if not broke(line)) == sorted(everything)
        assert ended[number]["status"]["state"] == "TASK_STATE_COMPLETED", ended[number]["status"]
        assert attached(ended[number]) == everything


if __name__ == "__main__":
    main()
