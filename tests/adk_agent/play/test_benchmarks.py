"""What a run does with its benchmarks: prepared before, closed after, however it ends."""

import pytest

from adk_agent.core.errors import PreflightError
from adk_agent.play.evaluation import evaluate
from evals.outcome import Component, Scored, TaskResult
from tau_bridge.benchmark import Benchmark, Played, TaskInfo
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError
from tests.fakes import closed_port, scripted_agent, serve


class Staged(Benchmark):
    """Notes what it is asked to do."""

    name = "staged"

    def __init__(self, noted, *, stage=None):
        super().__init__()
        self.noted = noted
        self.stage = stage

    def tasks(self, domain, split="base"):
        return [TaskInfo(ref=self.ref(domain, task_id)) for task_id in ("one", "two")]

    def prepare(self, refs):
        self.noted.append([ref.id for ref in refs])
        if self.stage is not None:
            raise DataError(self.stage)

    async def play(self, ref, agent, context):
        self.noted.append(f"play {ref.id}")
        reply = await agent.send("hello")
        return Played(termination="answered", answer=reply.as_text())

    async def score(self, ref, played, judge):
        outcome = Scored(value=1.0, produced_by="rules")
        return TaskResult(basis=("ANY",), components=(Component(name="ANY", outcome=outcome),))

    async def aclose(self):
        self.noted.append("closed")


@pytest.fixture
def staged(make_deps, make_plan):
    """Plays both tasks with an agent; returns what the benchmark noted."""

    async def play(url, **stage):
        noted = []
        deps = make_deps(benchmarks=Benchmarks([Staged(noted, **stage)]))
        plan = make_plan(url, domain="staged", task_ids=("one", "two"), max_concurrency=1)
        try:
            await evaluate(plan, deps, request="r")
        except (DataError, PreflightError) as error:
            noted.append(type(error).__name__)
        return noted

    return play


async def test_a_benchmark_is_prepared_before_the_first_task_and_closed_after_the_last(staged):
    with serve(scripted_agent(lambda text, context: "hi")) as url:
        noted = await staged(url)
    assert noted == [["one", "two"], "play one", "play two", "closed"]


async def test_a_benchmark_is_closed_where_nothing_could_be_played(staged):
    with closed_port() as url:
        assert await staged(url) == [["one", "two"], "closed", "PreflightError"]


async def test_a_benchmark_that_could_not_be_prepared_is_closed(staged):
    with serve(scripted_agent(lambda text, context: "hi")) as url:
        assert await staged(url, stage="no stage") == [["one", "two"], "closed", "DataError"]
