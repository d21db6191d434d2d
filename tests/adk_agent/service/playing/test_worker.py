"""The process that plays, once its service is gone."""

import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings
from adk_agent.runs.tracking import read_status
from adk_agent.service.playing.messages import Init, Submit, receiving_end, sending_end
from adk_agent.service.playing.spawning import spawn
from adk_agent.service.playing.worker import SERVICE_IS_GONE
from tests.adk_agent.service.playing.jobs import TIMEOUT_S, job

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture(scope="module")
def assembly(tmp_path_factory):
    settings = Settings.load(results_dir=tmp_path_factory.mktemp("results"), offline=True)
    return Assembly(settings=settings, timeout_s=60)


def test_when_the_service_is_gone_the_process_is_and_its_run_can_be_resumed(assembly, waiting):
    url, asked, left = waiting
    process = spawn()
    jobs, answers = sending_end(process.stdin.fileno()), receiving_end(process.stdout.fileno())
    jobs.send(Init(assembly=assembly, own_addresses=(), secrets=()))
    assert answers.recv() is None
    jobs.send(Submit(1, job(f"Evaluate {url} on one mock task")))
    run_id = answers.recv().progress.run_id
    assert asked.wait(TIMEOUT_S)
    process.stdin.close()
    jobs.close()
    assert process.wait(TIMEOUT_S) == SERVICE_IS_GONE
    process.stdout.close()
    answers.close()
    assert left.wait(TIMEOUT_S)
    assert read_status(assembly.settings.results_dir, run_id).state == "interrupted"
