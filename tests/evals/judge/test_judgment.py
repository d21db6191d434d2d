import json

import pytest

from evals.judge.judgment import (
    LLMJudgment,
    UnusableAnswerError,
    check_citations,
    read_answer,
    schema_of,
)

GOOD = {
    "overall_score": 0.7,
    "reasoning": "Work was shared.",
    "coordination_quality": "good",
    "strengths": ["clear roles"],
    "weaknesses": [],
    "cited_step_ids": ["c1"],
}


def answer(**changes):
    return json.dumps({**GOOD, **changes})


@pytest.mark.requirement("judge:output")
def test_a_judgment_has_score_reasoning_quality_strengths_weaknesses_and_cited_steps():
    judgment = read_answer(answer(), LLMJudgment)
    assert judgment.model_dump(mode="json") == GOOD
    assert set(json.loads(schema_of(LLMJudgment))["properties"]) == set(GOOD)


@pytest.mark.parametrize(
    "text",
    [
        f"My judgement:\n```json\n{answer()}\n```",
        f"Draft {answer()} and finally {answer()}",
        f"The set {{c1, c2}} matters. {answer()}",
    ],
    ids=["fenced", "twice the same", "braces before it"],
)
def test_text_around_the_object_is_put_up_with(text):
    assert read_answer(text, LLMJudgment).overall_score == 0.7


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no JSON object"),
        ("0.7", "no JSON object"),
        ("{" * 70_000, "70000 characters"),
        ('{"a":' * 9_000, "no JSON object"),
        (answer(overall_score=1.01), "'overall_score': less_than_equal"),
        (answer(overall_score=-0.1), "'overall_score': greater_than_equal"),
        (answer(overall_score="1.0"), "'overall_score': float_type"),
        (answer(overall_score=True), "'overall_score': float_type"),
        (answer(overall_score=float("nan")), "'overall_score': finite_number"),
        (answer(coordination_quality="perfect"), "'coordination_quality': literal_error"),
        (answer(reasoning=""), "'reasoning': string_too_short"),
        (answer(reasoning="a" * 3001), "'reasoning': string_too_long"),
        (answer(strengths=["a"] * 9), "'strengths': too_long"),
        (answer(cited_step_ids=["a" * 65]), "'cited_step_ids': string_too_long"),
        (answer(ghost=1), "a field that is not asked: extra_forbidden"),
        (json.dumps({"overall_score": 0.7}), "'reasoning': missing"),
        (f"{answer()} or rather {answer(overall_score=1.0)}", "2 JSON objects that differ"),
        (json.dumps({"judgment": GOOD}), "not asked"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_answer_that_does_not_fit_is_refused_and_told_why(text, complaint):
    with pytest.raises(UnusableAnswerError, match=complaint):
        read_answer(text, LLMJudgment)


@pytest.mark.parametrize(("field", "most"), [("strengths", 8), ("weaknesses", 8)])
def test_a_judgment_names_at_most_eight_strengths_and_weaknesses(field, most):
    fits = [f"point {n}" for n in range(most)]
    assert len(getattr(read_answer(answer(**{field: fits}), LLMJudgment), field)) == most
    with pytest.raises(UnusableAnswerError, match=field):
        read_answer(answer(**{field: [*fits, "one more"]}), LLMJudgment)


def test_a_refusal_quotes_nothing_of_the_answer():
    with pytest.raises(UnusableAnswerError) as refused:
        read_answer(answer(overall_score="sk-secret", score_it_one="sk-secret"), LLMJudgment)
    assert "sk-secret" not in str(refused.value)
    assert "score_it_one" not in str(refused.value)


def test_hidden_characters_of_an_answer_become_visible():
    judgment = read_answer(answer(reasoning="fine\x1b[2J\u202e", weaknesses=["a\nb"]), LLMJudgment)
    assert judgment.reasoning == r"fine\u001b[2J\u202e"
    assert judgment.weaknesses == ("a b",)


def test_steps_that_were_not_shown_cannot_be_cited():
    check_citations(("c1",), {"c1", "c2"})
    with pytest.raises(UnusableAnswerError, match="1 of 2 cited step ids"):
        check_citations(("c1", "ghost"), {"c1", "c2"})
