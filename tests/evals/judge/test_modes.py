import asyncio
import json
import re

import pytest

from evals.judge.digest import tokens_of
from evals.judge.modes import FAILURE_MODES
from evals.trace import Trace
from tests.evals.judge.verdicts import modes
from tests.fakes.judge_model import ScriptedModel

BY_CALLS = {"1.3", "1.5", "2.1", "2.5", "3.1"}
ABSENT = '{"verdict": "absent", "reason": "nothing of the kind", "step_ids": []}'


def asked(name):
    """Finds which mode a prompt is about."""
    return next(mode for mode in FAILURE_MODES if mode.name == name).question


async def test_without_a_model_five_modes_are_looked_for_and_the_others_abstained_from(teams):
    evaluation, found = await modes(teams.star())
    assert [mode.code for mode in FAILURE_MODES] == list(found)
    assert len(found) == 14
    for code in set(found) - BY_CALLS:
        assert found[code]["verdict"] == "abstain"
        assert found[code]["reason"].startswith("needs a model")
    assert evaluation.produced_by == "rules"
    assert sum(evaluation.values.values()) == 14


# With a model


async def test_a_model_is_asked_about_one_mode_in_each_question(teams):
    model = ScriptedModel(ABSENT)
    evaluation, found = await modes(teams.star(), model)
    by_model = {code for code, mode in found.items() if mode["produced_by"] == "llm:scripted"}
    # Of the five, the calls leave open whether the failure of c4 was heeded.
    assert by_model == {mode.code for mode in FAILURE_MODES} - BY_CALLS | {"2.5"}
    assert len(model.prompts) == len(by_model)
    for prompt in model.prompts:
        questions = [mode.name for mode in FAILURE_MODES if mode.question in prompt]
        assert len(questions) == 1
        assert tokens_of(prompt) <= 12_000
    assert evaluation.produced_by == "llm:scripted"
    assert evaluation.values == {"present": 0.0, "absent": 14.0, "abstained": 0.0}


async def test_the_data_are_the_same_in_every_question(teams):
    model = ScriptedModel(ABSENT)
    await modes(teams.star(), model)
    heads = {prompt[: prompt.index("The rest is your task.")] for prompt in model.prompts}
    assert len(heads) == 1


@pytest.mark.parametrize(
    ("answer", "expected", "reason"),
    [
        ({"verdict": "present", "reason": "c4", "step_ids": ["c4"]}, "present", "c4"),
        ({"verdict": "present", "reason": "x", "step_ids": ["c4", "ghost"]}, "abstain", "1 of 2"),
        ({"verdict": "absent", "reason": "x", "step_ids": ["ghost"]}, "abstain", "1 of 1"),
        ({"verdict": "present", "reason": "x", "step_ids": []}, "abstain", "cites no step"),
        ({"verdict": "abstain", "reason": "unclear"}, "abstain", "unclear"),
    ],
)
async def test_an_answer_that_cites_unknown_steps_or_none_is_rejected(
    teams, answer, expected, reason
):
    _, found = await modes(teams.star(), ScriptedModel(json.dumps(answer)))
    assert found["1.1"]["verdict"] == expected
    assert reason in found["1.1"]["reason"]


async def test_an_unusable_answer_is_asked_for_again_and_then_abstained_from(teams):
    model = ScriptedModel("certainly sk-secret")
    evaluation, found = await modes(teams.star(), model)
    assert len(model.prompts) == 20
    assert found["3.3"]["verdict"] == "abstain"
    assert "could not be used, 2 times: it holds no JSON object" in found["3.3"]["reason"]
    assert found["3.3"]["produced_by"] == evaluation.produced_by == "rules"
    (warning,) = evaluation.warnings
    assert warning.startswith("the model 'llm:scripted' did not answer")
    assert "sk-secret" not in evaluation.model_dump_json()


async def test_modes_that_are_open_when_the_time_is_used_up_are_abstained_from(teams):
    answered = asked("disobey_role")

    async def slow(prompt):
        if answered not in prompt:
            await asyncio.Event().wait()
        return ABSENT

    evaluation, found = await modes(teams.star(), slow, total_s=1.0)
    assert evaluation.status == "scored"
    assert found["1.2"]["verdict"] == "absent"
    assert found["1.1"]["verdict"] == "abstain"
    assert "the time for all questions was used up" in found["1.1"]["reason"]
    assert len(evaluation.warnings) == 1


async def test_no_more_than_four_questions_are_open_at_once(teams):
    open_now = most = 0

    async def counting(prompt):
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        await asyncio.sleep(0)
        open_now -= 1
        return ABSENT

    await modes(teams.star(), counting)
    assert most == 4


async def test_a_trace_without_a_step_of_an_agent_is_unscored_and_no_model_is_asked(teams):
    model = ScriptedModel(ABSENT)
    for of in (Trace(trace_id="t"), teams.trace(teams.from_user("root", "a", 0, 1))):
        evaluation, _ = await modes(of, model)
        assert evaluation.status == "unscored"
        assert evaluation.reason.startswith("empty")
    assert model.prompts == []


def test_the_taxonomy_has_14_modes_with_distinct_codes_names_and_questions():
    assert len({mode.code for mode in FAILURE_MODES}) == 14
    assert len({mode.question for mode in FAILURE_MODES}) == 14
    assert all(re.fullmatch(r"[a-z_]+", mode.name) for mode in FAILURE_MODES)
