import contextlib
import json
import threading
import uuid
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from starlette.responses import JSONResponse, Response

from adk_agent.assembly import Assembly
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import EvaluationDeps
from adk_agent.requests.by_rules import read_evaluation
from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.language.vocabulary import Vocabulary
from evals.driver import EvaluatorRegistry
from evals.graph.evaluator import GraphEvaluator
from evals.judge.evaluator import JudgeEvaluator
from evals.latency import LatencyEvaluator
from tau_bridge.a2a.extensions import TRACEABILITY_KEY
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.benchmarks import open_benchmarks
from tau_bridge.tau2.data import open_source
from tests.fakes import raw_agent, serve
from tests.fakes.runtime import manual_runtime

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def source():
    return open_source(None)


@pytest.fixture(scope="session")
def benchmarks():
    return open_benchmarks(lambda _: {})


@pytest.fixture(scope="session")
def vocabulary(benchmarks):
    """What requests may name of the bundled benchmarks."""
    return Vocabulary.of(benchmarks)


@pytest.fixture(scope="session")
def read_text(benchmarks, vocabulary):
    """Reads the evaluation that a text asks for, with what is to be confirmed."""
    return partial(read_evaluation, vocabulary=vocabulary, finder=TaskSearch(benchmarks))


@pytest.fixture(scope="session")
def read(read_text):
    """Reads a request in these words."""
    return lambda text: read_text(text).request


@pytest.fixture
def make_source(tmp_path):
    """Task data of our own, in the official layout: mock with the tasks that are given."""

    def make(*tasks):
        domain = tmp_path / "data" / "tau2" / "domains" / "mock"
        domain.mkdir(parents=True)
        ids = [task["id"] for task in tasks]
        (domain / "tasks.json").write_text(json.dumps(tasks))
        (domain / "split_tasks.json").write_text(json.dumps({"base": ids}))
        (domain / "db.json").write_text(json.dumps({"tasks": {}, "users": {}}))
        (domain / "policy.md").write_text("Be kind.")
        folder = str(tmp_path / "data")
        return open_benchmarks(lambda _: {"TAU2_DATA_DIR": folder})

    return make


@pytest.fixture
def make_deps(tmp_path, benchmarks):
    def make(**changes):
        timeout_s = changes.pop("timeout_s", 30.0)
        limits = MessengerLimits(timeout_s=timeout_s, retry_wait_s=0.001)
        models = Assembly(settings=changes.pop("settings", Settings.load())).models()
        fields = {
            "benchmarks": benchmarks,
            "models": replace(models, answers=changes.pop("answers", None)),
            "runtime": manual_runtime(),
            "new_run_id": lambda: "run-1",
            "evaluators": EvaluatorRegistry([LatencyEvaluator()]),
            "team_evaluators": EvaluatorRegistry([LatencyEvaluator()]),
            "new_messenger": lambda: Messenger(limits=limits),
            "versions": {"greenroom": "test"},
            "results_dir": tmp_path / "results",
        }
        return EvaluationDeps(**{**fields, **changes})

    return make


@pytest.fixture
def make_plan():
    def make(*addresses, domain="mock", task_ids=("create_task_1",), **changes):
        return EvaluationPlan(
            participants=tuple(Participant(address=address) for address in addresses),
            tasks=(PlannedTasks(domain=domain, task_ids=tuple(task_ids)),),
            **changes,
        )

    return make


@pytest.fixture
def make_team_deps(make_deps):
    """`make_deps` with the evaluators that look at teams."""

    def make(**changes):
        judged = EvaluatorRegistry([GraphEvaluator(), JudgeEvaluator(), LatencyEvaluator()])
        return make_deps(**{"evaluators": judged, "team_evaluators": judged, **changes})

    return make


@pytest.fixture
def reporting_agent():
    """An agent that answers with a text and a ResponseTrace in the message's metadata.

    `answer(text)` gives both.
    """

    def make(answer, *, key=TRACEABILITY_KEY):
        async def endpoint(request):
            asked = await request.json()
            said, trace = answer(asked["params"]["message"]["parts"][0]["text"])
            message = {
                "messageId": str(uuid.uuid4()),
                "contextId": "context-1",
                "role": "ROLE_AGENT",
                "parts": [{"text": said}],
                "metadata": {key: trace},
            }
            result = {"message": message}
            return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})

        return raw_agent(endpoint, streaming=False)

    return make


@pytest.fixture
def team_graph():
    """The graph evaluator's details of one participant's first trial, from a report."""

    def graph(report, participant):
        [results] = [
            each.results
            for each in report.evaluations
            if each.scope == "trial" and each.participant == participant and each.trial == 0
        ]
        [evaluation] = [each for each in results if each.evaluator == "graph"]
        return evaluation.details

    return graph


@pytest.fixture(scope="session")
def unanswering():
    """Serves an agent that never answers, as a context.

    Gives its address, what is set when it was asked, and what is set when nobody waits any more.
    """

    @contextlib.contextmanager
    def serving():
        asked, left = threading.Event(), threading.Event()

        async def answer(request):
            await request.body()
            asked.set()
            while (await request.receive())["type"] != "http.disconnect":
                """Until the caller is gone."""
            left.set()
            return Response()

        with serve(raw_agent(answer)) as url:
            yield url, asked, left

    return serving
