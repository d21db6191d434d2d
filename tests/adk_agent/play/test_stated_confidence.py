"""Agents that are asked for their confidence: what they are asked, and what is measured of it."""

import json

import pytest

from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.play.evaluation import evaluate
from adk_agent.present.page.writing import write_page
from adk_agent.results.markdown import render_markdown
from adk_agent.runs.store import iter_trials
from tests.adk_agent.present.page.kept_run import text_of
from tests.fakes import scripted_agent, serve

pytestmark = [pytest.mark.requirement("test:chaos"), pytest.mark.usefixtures("quick_start")]
TASKS = ("create_task_1", "update_task_1", "update_task_with_initialization_data")
KNOWN = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Important Meeting"}}


def solver(sure, unsure, openings):
    """Solves the first task and refuses the others; states its confidence beside what it says."""
    solving = {}

    def answer(text, context_id):
        if context_id not in solving:
            openings.append(text)
            solving[context_id] = "'Important Meeting'" in text
            if solving[context_id]:
                return KNOWN
        share = sure if solving[context_id] else unsure
        words = "Done." if solving[context_id] else "I cannot do that."
        return json.dumps({"name": "respond", "arguments": {"content": f"{words}\n{share}"}})

    return scripted_agent(answer)


def plan_of(*urls, trials, **changes):
    return EvaluationPlan(
        participants=tuple(Participant(role=f"a{n}", address=url) for n, url in enumerate(urls)),
        tasks=(PlannedTasks(domain="mock", task_ids=TASKS),),
        num_trials=trials,
        **changes,
    )


async def test_an_agent_that_knows_is_told_from_one_that_is_always_sure(make_deps):
    deps, openings = make_deps(), []
    candid = solver("[confidence: 95%]", "[confidence: 5%]", openings)
    boastful = solver("[confidence: 100%]", "[confidence: 100%]", openings)
    with serve(candid) as knows, serve(boastful) as boasts:
        plan = plan_of(knows, boasts, trials=7, confidence=True)
        report = await evaluate(plan, deps, request="r")
    assert all("[confidence: 80%]" in text for text in openings)
    first, second = report.predictability
    assert (first.stated, first.scored, first.passed) == (21, 21, round(1 / 3, 6))
    assert first.measures.brier.value == pytest.approx(0.05**2)
    assert first.measures.calibration_error.value == pytest.approx(0.05)
    assert first.measures.auroc.value == 1.0
    assert second.measures.brier.value == pytest.approx(2 / 3, abs=1e-5)
    assert (second.mean_confidence, second.measures.auroc.value) == (1.0, 0.5)

    # Nobody but the measure reads the statement.
    record = next(iter_trials(deps.results_dir, report.run_id))
    assert record.row.stated_confidence == 0.95
    assert "confidence" not in json.dumps(record.messages)
    replies = [step.response_text or "" for step in record.trace.steps]
    assert "confidence" not in "".join(replies)
    assert "## Predictability" in render_markdown(report)
    page = write_page(deps.results_dir, report.run_id, benchmarks=deps.benchmarks)
    assert "Does an agent know when it will not pass?" in text_of(page.read_text("utf-8"))


async def test_without_being_asked_an_agent_is_neither_asked_nor_measured(make_deps):
    openings = []
    with serve(solver("", "", openings)) as url:
        report = await evaluate(plan_of(url, trials=1), make_deps(), request="r")
    assert not any("[confidence" in text for text in openings)
    assert report.predictability == ()
    assert {row.stated_confidence for row in report.trials} == {None}
    assert "Predictability" not in render_markdown(report)


async def test_agents_that_state_nothing_keep_their_score_and_are_not_measured(make_deps):
    plan = plan_of("builtin:null", trials=1)
    plain = await evaluate(plan, make_deps(), request="r", run_id="plain")
    asked = plan.model_copy(update={"confidence": True})
    report = await evaluate(asked, make_deps(), request="r", run_id="asked")
    assert [row.reward for row in report.trials] == [row.reward for row in plain.trials]
    [row] = report.predictability
    assert row.measures.brier.value is None
    assert row.measures.brier.reason.startswith("0 of 3 scored trials stated a confidence")
