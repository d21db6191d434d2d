"""What is answered without the process that plays: how far runs are, and that they are to stop."""

import uuid
from dataclasses import replace

import pytest

from adk_agent.runs.tracking import read_status
from adk_agent.service.playing.backend import BackendEndedError
from adk_agent.service.playing.in_process import InProcessBackend
from adk_agent.service.server import build_service
from tests.adk_agent.service.conversations import TIMEOUT_S, Caller, row, state, words
from tests.fakes import serve

pytestmark = pytest.mark.usefixtures("quick_start")


class Busy(InProcessBackend):
    """Plays the first job, and cannot be asked for anything after that."""

    jobs = 0

    async def play(self, job, on_progress):
        self.jobs += 1
        if self.jobs > 1:
            raise BackendEndedError("it has no time")
        return await super().play(job, on_progress)


@pytest.fixture
def busy(assembly):
    backend = Busy(assembly)
    service = build_service(assembly, card_url="http://127.0.0.1:1/", backend=backend)
    with serve(service.app) as url:
        yield Caller(url=url, context_id=str(uuid.uuid4()))


def test_status_and_cancel_do_not_wait_for_what_plays(busy, waiting, assembly):
    url, asked, left = waiting
    asked.clear()
    left.clear()
    task = busy.begin(f"Evaluate {url} on one mock task")
    assert asked.wait(TIMEOUT_S)
    run_id = busy.run_of(task["id"])
    assert (
        words(busy.say("how far are you?")) == f"Run {run_id} is running: trial 0 of 1, 0 passed."
    )
    assert state(busy.say("show the failures")) == "failed"
    canceled = busy.say("cancel it, please")
    assert (state(canceled), words(canceled).split(":")[0]) == ("completed", "Canceled")
    assert left.wait(TIMEOUT_S)
    assert read_status(assembly.settings.results_dir, run_id).state == "interrupted"


@pytest.fixture
def alone(assembly, tmp_path):
    """A service all of whose callers may see all runs."""
    settings = assembly.settings.model_copy(update={"results_dir": tmp_path})
    shown = replace(assembly, settings=settings, may_see_all_runs=True)
    service = build_service(shown, card_url="http://127.0.0.1:1/")
    with serve(service.app) as url:
        yield url


def test_where_all_runs_may_be_seen_the_newest_is_told_of_and_never_canceled(alone, waiting):
    first, second = (Caller(url=alone, context_id=str(uuid.uuid4())) for _ in range(2))
    url, asked, left = waiting
    run_id = row(first.say("Evaluate builtin:null on one mock task"))["run_id"]
    for question in ("status?", "why did it fail?"):
        told = second.say(question)
        assert state(told) == "completed"
        assert run_id in words(told)
    asked.clear()
    left.clear()
    task = first.begin(f"Evaluate {url} on one mock task")
    assert asked.wait(TIMEOUT_S)
    assert state(second.say("cancel it")) == "rejected"
    assert state(second.say(f"cancel run {first.run_of(task['id'])}")) == "rejected"
    assert state(first.task(task["id"])) == "working"
    assert state(first.say("stop everything")) == "completed"
    assert left.wait(TIMEOUT_S)
    assert state(first.task(task["id"])) == "canceled"
