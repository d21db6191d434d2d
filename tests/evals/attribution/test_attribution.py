"""Who decided that a team's work came out wrong."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from evals.attribution.evaluator import AttributionEvaluator, attribution_in
from evals.attribution.outcomes import log_of
from evals.attribution.ranking import attribute
from evals.attribution.turns import Log
from evals.base import EvaluationContext
from evals.outcome import Failed, Scored
from evals.trace import USER, CallType, InteractionStep, Trace, Utterance
from tau_bridge.exercises.questions import exercises

sys.path.insert(0, str(Path(__file__).parents[3] / "performance"))
import attribution_teams

TASK = "Records\n- item: 2 x boots at 64.50 EUR\n- weight: 3 kg"


def step(number, caller, callee, request, response, **more):
    return InteractionStep(
        step_id=f"s{number}",
        trace_id="t",
        call_type=CallType.AGENT,
        caller=caller,
        callee=callee,
        request_text=request,
        response_text=response,
        **more,
    )


def team(orders="- goods: 129.00", policy="- fee: 12.90"):
    answer = f"{orders}\n{policy}"
    outside = {"caller_kind": "user"}
    steps = (
        step(0, "green-agent", "lead", TASK, answer, additional_attributes=outside),
        step(1, "lead", "orders", "Goods?", orders, parent_step_id="s0"),
        step(2, "lead", "policy", "A fee of 10 percent?", policy, parent_step_id="s0"),
    )
    return EvaluationContext(trace=Trace(trace_id="t", steps=steps))


def first(context):
    found = attribute(log_of(context)).candidates[0]
    return found.agent, found.step_id, found.signs[0].cue


@pytest.mark.requirement("why:attribution")
@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"orders": "I am sorry, I cannot help with that."}, ("orders", "s1", "declined")),
        ({"orders": ""}, ("orders", "s1", "no_answer")),
        ({"orders": "- goods: 771.31"}, ("orders", "s1", "unfounded")),
        ({"orders": "- weight: 5 kg"}, ("orders", "s1", "contradicts")),
        ({"policy": "- fee: 98.76"}, ("policy", "s2", "unfounded")),
    ],
)
def test_a_fault_is_laid_at_the_step_where_it_came_in(changed, named):
    assert first(team(**changed)) == named


def test_a_failure_is_laid_at_the_deepest_call_that_failed():
    steps = (
        step(1, "lead", "relay", "a", None, error="it failed below"),
        step(2, "relay", "policy", "b", None, error="down", parent_step_id="s1"),
    )
    assert first(EvaluationContext(trace=Trace(trace_id="t", steps=steps)))[:2] == ("policy", "s2")


def test_where_the_world_left_the_gold_path_counts_against_who_called_the_tool():
    whole = team()
    cancel = step(3, "orders", "cancel_order", "{}", "done", parent_step_id="s1")
    wrote = cancel.model_copy(update={"call_type": CallType.TOOL})
    trace = whole.trace.model_copy(update={"steps": (*whole.trace.steps, wrote)})
    departed = replace(whole, trace=trace, departed_at="s3")
    assert first(departed) == ("orders", "s3", "departure")


def test_every_candidate_has_reasons_whose_weights_are_its_score():
    for each in attribute(log_of(team(orders="- goods: 771.31"))).candidates:
        assert each.signs
        assert each.score == pytest.approx(sum(sign.weight for sign in each.signs))
        assert all(sign.reason.endswith(".") for sign in each.signs)


def test_a_log_without_a_sign_is_not_attributable():
    found = attribute(Log(turns=[]))
    assert found.agent is None
    assert found.sentences() == ("Not attributable: no step shows a sign of what went wrong.",)


def test_a_value_that_is_right_is_no_sign():
    context = EvaluationContext(
        trace=team(orders="- goods: 771.31").trace, answer="771.31", expected_answer="771.31 EUR"
    )
    assert not [
        sign
        for each in attribute(log_of(context)).candidates
        for sign in each.signs
        if sign.cue == "unfounded"
    ]


def chat(*lines):
    messages = tuple(
        Utterance(step_id=f"message-{at}", speaker=who, text=text)
        for at, (who, text) in enumerate(lines)
    )
    return EvaluationContext(trace=Trace(trace_id="t"), messages=messages)


def test_in_a_chat_the_turn_with_the_most_new_values_comes_first():
    found = chat(
        (USER, "How many papers were wrong?"),
        ("planner", "Let us count them."),
        ("counter", "Assume 1000 papers at 5 percent, so **50**."),
        ("checker", "I agree with 50."),
    )
    assert first(found)[:2] == ("counter", "message-2")


def test_a_terminal_that_reports_runs_is_nobody_to_blame():
    found = chat(
        (USER, "Count."),
        ("coder", "```python\nprint(x)\n```"),
        ("terminal", "exitcode: 1 (execution failed)\nTraceback 12345"),
        ("coder", "It failed."),
    )
    named = attribute(log_of(found)).candidates
    assert {each.agent for each in named} == {"coder"}


def evaluated(context, ask=None):
    by = "llm:scripted" if ask is not None else "rules"
    return asyncio.run(AttributionEvaluator(ask, produced_by=by).evaluate(context))


def test_what_passed_or_broke_is_not_attributed():
    passed = Scored(value=1.0, produced_by="rules")
    broke = Failed(reason="no network", fault="infrastructure")
    for outcome in (passed, broke):
        context = EvaluationContext(trace=team().trace, outcome=outcome)
        evaluation = evaluated(context)
        assert evaluation.status == "unscored"
        assert attribution_in(evaluation) is None


def test_one_agent_alone_is_not_attributed():
    steps = (
        step(0, "user", "agent", "Hello", "Hi", additional_attributes={"caller_kind": "user"}),
    )
    assert evaluated(EvaluationContext(trace=Trace(trace_id="t", steps=steps))).status == "unscored"


def scripted(*answers):
    left = list(answers)

    async def ask(prompt):
        asked.append(prompt)
        return json.dumps(left.pop(0))

    asked = []
    ask.prompts = asked
    return ask


NAMED = {"step_id": "s2", "agent": "policy", "reason": "The fee is wrong."}
HINGE = {"would_be_right": True, "reason": "All else was right.", "cited_step_ids": ["s2"]}


def test_a_model_is_asked_for_the_step_and_whether_the_outcome_hung_on_it():
    ask = scripted(NAMED, HINGE)
    found = attribution_in(evaluated(team(), ask))
    assert (found.agent, found.candidates[0].step_id, found.confirmed) == ("policy", "s2", True)
    assert found.produced_by == "llm:scripted"
    assert len(ask.prompts) == 2


def test_a_step_that_the_outcome_did_not_hang_on_does_not_outweigh_a_fault():
    ask = scripted(NAMED, {**HINGE, "would_be_right": False})
    found = attribution_in(evaluated(team(orders=""), ask))
    assert found.candidates[0].agent == "orders"
    assert found.confirmed is None


def test_a_model_may_say_that_nothing_can_be_told():
    found = attribution_in(
        evaluated(team(), scripted({"step_id": None, "agent": None, "reason": "x"}))
    )
    assert found.candidates == ()
    assert found.reason == "x"


@pytest.mark.parametrize(
    "unusable", [{**NAMED, "step_id": "s9"}, {**NAMED, "agent": "somebody"}, {"step": "s2"}]
)
def test_where_a_model_cites_what_was_not_shown_the_rules_stand(unusable):
    evaluation = evaluated(team(orders=""), scripted(unusable, unusable))
    assert attribution_in(evaluation).agent == "orders"
    assert evaluation.produced_by == "rules"
    assert "attributed by rules" in evaluation.warnings[0]


@pytest.mark.requirement("why:attribution")
@pytest.mark.parametrize("reports", ["right", "faulty", "none"])
def test_planted_faults_in_bundled_teams_are_found(reports):
    wanted = list(exercises().values())[:2]
    found = asyncio.run(
        attribution_teams.cases(["star5", "chain4", "duplicate4"], wanted, reports=reports)
    )
    assert len(found) > 40
    assert sum(case.agent_right for case in found) >= 0.9 * len(found)
    assert sum(case.step_right for case in found) >= 0.8 * len(found)
