import asyncio
import json
import logging

import pytest

from evals.base import EvaluationContext
from evals.driver import EvaluatorRegistry
from evals.graph.evaluator import GraphEvaluator
from evals.judge.digest import tokens_of
from evals.judge.evaluator import JudgeEvaluator
from evals.judge.judgment import LLMJudgment, schema_of
from evals.judge.prompt import CRITERIA, MIN_TOKEN_BUDGET
from evals.trace import Trace
from tests.fakes.judge_model import ScriptedModel

GOOD = {
    "overall_score": 0.7,
    "reasoning": "Work was shared.",
    "coordination_quality": "good",
    "strengths": ["clear roles"],
    "weaknesses": ["an error was lost"],
    "cited_step_ids": ["c4"],
}


def answer(**changes):
    return json.dumps({**GOOD, **changes})


class ProviderError(Exception):
    pass


async def never(prompt):
    await asyncio.Event().wait()


async def judge(of, ask=None, **options):
    """The judge's evaluation of a trace, after Tier 1."""
    options = {"produced_by": "llm:scripted", **options} if ask is not None else options
    registry = EvaluatorRegistry([GraphEvaluator(), JudgeEvaluator(ask, **options)])
    _, evaluation = await registry.run(EvaluationContext(trace=of))
    return evaluation


@pytest.mark.requirement("judge:output")
async def test_a_model_s_judgement_is_the_result_and_says_who_made_it(teams):
    evaluation = await judge(teams.star(), ScriptedModel(answer()))
    assert evaluation.status == "scored"
    assert evaluation.values["overall_score"] == 0.7
    assert evaluation.details["judgment"] == GOOD
    assert evaluation.produced_by == "llm:scripted"
    assert evaluation.warnings == ()


async def test_the_result_says_how_much_of_the_trace_the_model_saw(teams):
    model = ScriptedModel(answer())
    evaluation = await judge(teams.star(), model, token_budget=15_000)
    seen = evaluation.details["digest"]
    assert (seen["steps"], seen["left_out"], seen["texts_shortened"]) == (5, 0, 0)
    assert seen["token_budget"] == 15_000
    assert 0 < seen["tokens"] < tokens_of(model.prompts[0]) <= 15_000


@pytest.mark.requirement("judge:prompt")
async def test_a_model_sees_the_trace_then_findings_criteria_and_the_form_of_its_answer(teams):
    model = ScriptedModel(answer())
    await judge(teams.star(), model)
    (prompt,) = model.prompts
    parts = [
        '"id":"c4"',
        '"error":"it broke"',
        '{"labels": ["bottleneck",',
        '{"finding": "over_centralized"',
        '{"metric": "interaction_share", "value": 1.0}',
        CRITERIA,
        schema_of(LLMJudgment),
    ]
    places = [prompt.rindex(part) for part in parts]
    assert places == sorted(places)


async def test_criteria_of_one_s_own_take_the_place_of_the_default(teams):
    model = ScriptedModel(answer())
    await judge(teams.star(), model, criteria="Judge politeness {alone}.")
    assert "Judge politeness {alone}." in model.prompts[0]
    assert CRITERIA not in model.prompts[0]


async def test_an_unusable_answer_is_repaired_once_and_the_model_is_told_what_was_wrong(teams):
    model = ScriptedModel("I would say 0.7.", answer())
    evaluation = await judge(teams.star(), model)
    assert evaluation.produced_by == "llm:scripted"
    first, second = model.prompts
    assert second.startswith(first)
    assert "it holds no JSON object" in second.removeprefix(first)


async def test_a_call_that_fails_is_made_once_more(teams):
    model = ScriptedModel(ProviderError("503"), answer())
    evaluation = await judge(teams.star(), model)
    assert evaluation.values["overall_score"] == 0.7
    assert model.prompts[0] == model.prompts[1]


@pytest.mark.requirement("judge:fallback")
@pytest.mark.parametrize(
    ("says", "cause", "calls"),
    [
        (ProviderError("key sk-secret is wrong"), "the call failed with ProviderError (tried 2", 2),
        (TimeoutError(), "no answer within 20 s (tried 2 times)", 2),
        ("sk-secret", "could not be used, 2 times: it holds no JSON object", 2),
        (answer(overall_score=7), "'overall_score': less_than_equal", 2),
        (answer(cited_step_ids=["ghost"]), "1 of 1 cited step ids", 2),
        (lambda prompt: None, "the call returned a NoneType, not text", 2),
    ],
    ids=["fails", "times out", "no JSON", "out of range", "ghost step", "no text"],
)
async def test_where_the_model_fails_rules_judge_and_a_warning_names_the_cause(
    teams, says, cause, calls, caplog
):
    model = ScriptedModel(says)
    with caplog.at_level(logging.WARNING):
        evaluation = await judge(teams.star(), model)
    assert evaluation.status == "scored"
    assert evaluation.produced_by == "rules"
    (warning,) = evaluation.warnings
    assert warning.startswith("judged by rules, since the model 'llm:scripted' did not: ")
    assert cause in warning
    assert len(model.prompts) == calls
    assert warning in caplog.text
    assert "sk-secret" not in evaluation.model_dump_json() + caplog.text
    by_rules = await judge(teams.star())
    assert evaluation.details == by_rules.details


@pytest.mark.requirement("judge:fallback")
@pytest.mark.parametrize(
    ("limits", "cause"),
    [
        ({"timeout_s": 0.01}, "no answer within 0.01 s (tried 2 times)"),
        ({"total_s": 0.01}, "no usable answer in time"),
    ],
)
async def test_a_model_that_never_answers_holds_up_nobody(teams, limits, cause):
    evaluation = await judge(teams.star(), never, **limits)
    assert (evaluation.status, evaluation.produced_by) == ("scored", "rules")
    assert cause in evaluation.warnings[0]


async def test_without_a_model_rules_judge_and_a_warning_says_so(teams):
    evaluation = await judge(teams.star())
    # Hub, bottleneck and over-centralized: 0.2. One failure that nobody told of: 0.3.
    assert evaluation.values == {"overall_score": 0.5}
    assert evaluation.details["judgment"]["coordination_quality"] == "fair"
    assert "c4" in evaluation.details["judgment"]["cited_step_ids"]
    assert evaluation.produced_by == "rules"
    assert evaluation.warnings == ("judged by rules, since no language model is configured",)


async def test_a_team_with_nothing_wrong_gets_full_points_by_rules(teams):
    assert (await judge(teams.ring())).values == {"overall_score": 1.0}


async def test_rules_give_a_dyad_no_number(teams):
    evaluation = await judge(teams.dyad())
    assert evaluation.status == "unscored"
    assert evaluation.reason.startswith("fewer than three agents were visible, so ")
    assert evaluation.values == {}


async def test_a_model_judges_a_dyad_as_a_conversation_whose_coordination_is_not_applicable(teams):
    fits = answer(coordination_quality="not_applicable", cited_step_ids=["c1"])
    model = ScriptedModel(answer(cited_step_ids=["c1"]), fits)
    evaluation = await judge(teams.dyad(), model)
    assert evaluation.values["overall_score"] == 0.7
    assert evaluation.details["judgment"]["coordination_quality"] == "not_applicable"
    assert "fewer than three agents, too few" in model.prompts[0]
    assert "with fewer than three agents" in model.prompts[1]


async def test_a_dyad_that_the_model_did_not_judge_is_unscored_with_the_warning(teams):
    evaluation = await judge(teams.dyad(), ScriptedModel("no"))
    assert evaluation.status == "unscored"
    assert "it holds no JSON object" in evaluation.warnings[0]


@pytest.mark.parametrize("ask", [None, ScriptedModel(answer())])
async def test_a_trace_without_calls_between_agents_is_unscored_and_no_model_is_asked(ask):
    evaluation = await judge(Trace(trace_id="t"), ask)
    assert evaluation.status == "unscored"
    assert evaluation.reason.startswith("no call between two agents was visible, so ")
    assert ask is None or ask.prompts == []


async def test_rules_need_tier_1_and_a_model_does_not(teams):
    context = EvaluationContext(trace=teams.star())
    by_rules = await JudgeEvaluator().evaluate(context)
    assert by_rules.status == "unscored"
    assert by_rules.reason == "needs the evaluator 'graph', which did not run: enable it"
    model = ScriptedModel(answer())
    evaluation = await JudgeEvaluator(model, produced_by="llm:m").evaluate(context)
    assert evaluation.status == "scored"
    assert "Nothing was measured." in model.prompts[0]


async def test_details_of_tier_1_that_cannot_be_read_leave_rules_without_a_judgement(teams):
    (graph,) = await EvaluatorRegistry([GraphEvaluator()]).run(
        EvaluationContext(trace=teams.star())
    )
    for broken, reason in (
        (graph.model_copy(update={"details": {"labels": "hub"}}), "1 errors"),
        (graph.model_copy(update={"status": "failed"}), "which failed"),
    ):
        context = EvaluationContext(trace=teams.star(), earlier=(broken,))
        evaluation = await JudgeEvaluator().evaluate(context)
        assert evaluation.status == "unscored"
        assert reason in evaluation.reason


async def test_a_long_trace_with_long_texts_stays_within_the_budget(teams):
    calls = [
        teams.step(f"c{n}", f"m{n % 7}", f"m{n % 5 + 1}", n, n + 1, response_text="分" * 5_000)
        for n in range(500)
    ]
    model = ScriptedModel("no", answer(cited_step_ids=["c0"]))
    evaluation = await judge(teams.trace(*calls), model)
    assert evaluation.produced_by == "llm:scripted"
    assert evaluation.details["digest"]["left_out"] > 400
    assert all(tokens_of(prompt) <= 24_000 for prompt in model.prompts)


async def test_the_largest_criteria_and_tier_1_fit_into_the_smallest_budget(teams):
    model = ScriptedModel("no", answer())
    await judge(teams.star(), model, token_budget=MIN_TOKEN_BUDGET, criteria="Judge well. " * 333)
    assert all(tokens_of(prompt) <= MIN_TOKEN_BUDGET for prompt in model.prompts)
    assert '"id":"c4"' in model.prompts[0]


async def test_a_step_that_exists_but_was_left_out_of_the_prompt_cannot_be_cited(teams):
    calls = [teams.step(f"c{n}", "a", "bc"[n % 2], n, n + 1) for n in range(600)]
    evaluation = await judge(teams.trace(*calls), ScriptedModel(answer(cited_step_ids=["c300"])))
    assert evaluation.produced_by == "rules"
    assert "of no step that was shown" in evaluation.warnings[0]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"produced_by": "rules"}, "produced_by='llm:<model>'"),
        ({"timeout_s": 0}, "timeout_s 0 must be above 0"),
        ({"attempts": 0}, "attempts 0 at least 1"),
        ({"token_budget": 100}, "token_budget 100"),
        ({"criteria": "a" * 5_000}, "criteria of 5000 bytes"),
    ],
)
def test_options_that_cannot_work_are_refused_at_once(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        JudgeEvaluator(ScriptedModel("no"), **{"produced_by": "llm:m", **options})


async def test_the_same_trace_gives_the_same_prompt_and_result(teams):
    one, two = ScriptedModel(answer()), ScriptedModel(answer())
    first, second = await judge(teams.star(), one), await judge(teams.star(), two)
    assert first.model_dump_json() == second.model_dump_json()
    assert one.prompts == two.prompts


async def test_a_model_is_loaded_before_the_time_of_its_judgement_runs(teams):
    loaded = []

    async def load():
        await asyncio.wait([asyncio.ensure_future(asyncio.Event().wait())], timeout=0.3)
        loaded.append(True)

    judging = JudgeEvaluator(ScriptedModel(answer()), produced_by="llm:m", load=load, total_s=0.25)
    _, evaluation = await EvaluatorRegistry([GraphEvaluator(), judging]).run(
        EvaluationContext(trace=teams.star())
    )
    assert loaded == [True]
    assert evaluation.produced_by == "llm:m"
