"""`greenroom cancel`: a run is ended from another process."""

import asyncio
import json
import threading

import pytest

from adk_agent.cli.main import build_parser
from adk_agent.cli.playing import play
from adk_agent.core.errors import RequestError, RunCanceledError
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import evaluate
from adk_agent.results.progress import Progress
from adk_agent.runs.tracking import read_status, request_cancel, tracked_run
from tests.fakes import scripted_agent, serve
from tests.fakes.runtime import manual_runtime

pytestmark = pytest.mark.usefixtures("quick_start")


async def test_a_run_is_canceled_from_elsewhere_and_what_was_finished_is_kept(
    make_deps, make_plan, shell
):
    deps = make_deps()
    results_dir = deps.results_dir
    waiting = asyncio.Event()

    async def reply(text, context_id):
        waiting.set()
        await asyncio.sleep(3600)

    def cancel():
        told.append(shell("cancel", "run-1"))

    told = []
    with serve(scripted_agent(reply)) as url:
        plan = make_plan("builtin:null", url, max_concurrency=1, num_trials=2)
        canceling = threading.Thread(target=cancel)

        def tell(progress):
            if progress.done == 2 and not canceling.is_alive():
                canceling.start()

        with pytest.raises(RunCanceledError, match="run run-1 was canceled"):
            await evaluate(plan, deps, request="r", on_progress=tell)
        await asyncio.to_thread(canceling.join)
    code, out, _ = told[0]
    assert code == 0
    assert "Run run-1: canceled" in out
    assert read_status(results_dir, "run-1").state == "canceled"
    code, out, _ = shell("results", "run-1", "--json")
    assert code == 3
    assert len(json.loads(out)["trials"]) == 2
    with pytest.raises(RequestError, match="has already ended: it is canceled"):
        request_cancel(results_dir, "run-1")
    assert shell("cancel", "run-1")[0] == 2


def test_a_command_that_is_canceled_says_once_what_is_kept(tmp_path, capsys):
    async def work(display):
        display.show(Progress(stage="playing", run_id="run-1", message="m", done=0, total=1))
        with tracked_run(tmp_path, "run-1", request="r", clock=manual_runtime().clock) as tracker:
            request_cancel(tmp_path, "run-1")
            await tracker.until_canceled(asyncio.Event().wait())

    parsed = build_parser().parse_args(["resume", "run-1", "--results-dir", str(tmp_path)])
    assert play(work, parsed, Settings(results_dir=tmp_path)) == 130
    assert capsys.readouterr().err.endswith(
        f"greenroom: run run-1 was canceled; finished trials are kept in {tmp_path / 'run-1'}; "
        f"resume with: greenroom resume run-1 --results-dir {tmp_path}\n"
    )
