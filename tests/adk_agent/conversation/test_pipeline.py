"""RulesPipeline: a request, step by step, without a language model."""

import pytest

from adk_agent.conversation.outcome import Problem
from adk_agent.conversation.pipeline import RulesPipeline
from adk_agent.core.plan import Overrides
from adk_agent.requests.intent import Situation
from adk_agent.results.markdown import explained
from adk_agent.runs import store
from adk_agent.runs.store import load_report
from adk_agent.runs.tracking import request_cancel
from tests.fakes import closed_port

pytestmark = pytest.mark.usefixtures("quick_start")

SENTENCE = "Evaluate shop-bot on two mock tasks"


@pytest.fixture
def pipeline(make_deps, conversation):
    return RulesPipeline(
        deps=make_deps(),
        conversation=conversation,
        registered=lambda: {"shop-bot": "builtin:null"},
    )


@pytest.fixture
def tell():
    told = []

    def hear(progress):
        told.append(progress)

    hear.told = told
    return hear


async def test_a_sentence_becomes_a_report_with_all_progress_told_before_it(
    pipeline, tell, monkeypatch
):
    def refuse(*_, **__):
        raise AssertionError("a report was read back")

    monkeypatch.setattr(store, "read_kept", refuse)
    outcome = await pipeline.run_request(SENTENCE, overrides=Overrides(), on_progress=tell)
    assert (outcome.run_id, outcome.problem) == ("run-1", None)
    assert outcome.report.request == SENTENCE
    assert [each.participant for each in outcome.report.trials] == ["builtin:null"] * 2
    assert [each.done for each in tell.told if each.trial is not None] == [1, 2]
    assert tell.told[-1].stage == "finished"


async def test_a_flag_beats_the_sentence(pipeline, tell):
    outcome = await pipeline.run_request(
        SENTENCE, overrides=Overrides(limit=1, seed=7), on_progress=tell
    )
    assert (outcome.report.plan.seed, outcome.report.plan.total_trials) == (7, 1)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("Evaluate shop-bot on two mock tasks, 0 trials each", "0"),
        ("Evaluate shop-bot on mock task 77", "'77'"),
    ],
)
async def test_what_cannot_be_planned_is_a_problem_and_no_run(pipeline, tell, sentence, word):
    outcome = await pipeline.run_request(sentence, on_progress=tell)
    assert (outcome.run_id, outcome.report, outcome.problem.exit_code) == (None, None, 2)
    assert word in outcome.problem.message
    assert tell.told == []


async def test_a_service_does_not_assess_itself(pipeline, tell):
    outcome = await pipeline.run_request(
        "Evaluate http://localhost:8000 on one mock task",
        situation=Situation(own_addresses=("http://127.0.0.1:8000/",)),
        on_progress=tell,
    )
    assert outcome.problem.exit_code == 2
    assert "this service itself" in outcome.problem.message


async def test_an_agent_that_is_not_there_is_a_problem_of_a_run(pipeline, make_plan, tell):
    with closed_port() as url:
        outcome = await pipeline.run_plan(make_plan(url), request="r", on_progress=tell)
    assert (outcome.run_id, outcome.problem.exit_code) == ("run-1", 3)
    assert url in outcome.problem.message


async def test_a_run_that_is_canceled_goes_on_where_it_was(pipeline, make_plan, tell):
    plan = make_plan("builtin:null", num_trials=20, max_concurrency=1)

    def cancel_after_two(progress):
        if progress.done == 2:
            request_cancel(pipeline.deps.results_dir, "run-1")

    outcome = await pipeline.run_plan(plan, request="r", on_progress=cancel_after_two)
    assert outcome.problem == Problem(message=outcome.problem.message, exit_code=130)
    outcome = await pipeline.run_plan(plan, request="r", on_progress=tell, resumed_run_id="run-1")
    assert (outcome.problem, outcome.run_id) == (None, "run-1")
    assert len(outcome.report.trials) == 20
    assert tell.told[0].done >= 2


async def test_a_run_that_was_killed_before_its_report_was_whole_gets_it(pipeline, make_plan, tell):
    plan = make_plan("builtin:null")
    first = await pipeline.run_plan(plan, request="r", on_progress=tell)
    folder = pipeline.deps.results_dir / "run-1"
    written = (folder / "report.md").read_text()
    (folder / "report.json").unlink()  # the last that is written
    (folder / "report.md").unlink()
    again = await pipeline.run_plan(plan, request="r", on_progress=tell, resumed_run_id="run-1")
    assert again.report == first.report == load_report(pipeline.deps.results_dir, "run-1")
    assert (folder / "report.md").read_text() == written == explained(first.report)
