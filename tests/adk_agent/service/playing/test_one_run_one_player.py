"""A run has one player at a time, and nobody else takes away what it needs."""

import asyncio

import pytest

from adk_agent.core.errors import RequestError, RunCanceledError
from adk_agent.play.evaluation import evaluate, report_so_far, resume
from adk_agent.requests.self_reference import itself_among
from adk_agent.runs.tracking import read_status, request_cancel
from tau_bridge.testing import scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture
def held_up():
    """An agent that never answers, and what tells that it was asked."""
    asked = asyncio.Event()

    async def reply(text, context_id):
        asked.set()
        await asyncio.Event().wait()

    with serve(scripted_agent(reply)) as url:
        yield url, asked


async def begun(plan, deps):
    """A run of which the first trials are finished and the next one hangs."""
    reached = asyncio.Event()

    def tell(progress):
        if progress.done == 2:
            reached.set()

    playing = asyncio.create_task(evaluate(plan, deps, request="r", on_progress=tell))
    await reached.wait()
    return playing


@pytest.mark.parametrize("other", [resume, report_so_far])
async def test_whoever_is_refused_a_run_in_play_leaves_its_cancellation_alone(
    held_up, make_deps, make_plan, other
):
    url, _ = held_up
    deps = make_deps()
    plan = make_plan("builtin:null", url, max_concurrency=1, num_trials=2)
    playing = await begun(plan, deps)
    request_cancel(deps.results_dir, "run-1")
    with pytest.raises(RequestError, match="being played"):
        await other("run-1", deps)
    with pytest.raises(RunCanceledError):
        await playing
    assert read_status(deps.results_dir, "run-1").state == "canceled"


@pytest.mark.parametrize(
    "same",
    ["http://127.1:8000", "http://0x7f000001:8000/", "http://2130706433:8000", "http://[::1]:8000"],
)
def test_the_service_knows_itself_in_every_notation(make_plan, same):
    assert itself_among(make_plan(same), ["http://127.0.0.1:8000/"]) is not None


def test_an_id_that_is_too_long_for_a_folder_is_no_run(tmp_path):
    with pytest.raises(RequestError, match="not the id of a run"):
        read_status(tmp_path, "x" * 5_000)
