import asyncio
import json
import re

import pytest

from evals.base import EvaluationContext
from evals.driver import EvaluatorRegistry
from evals.judge.digest import tokens_of
from evals.judge.modes import FAILURE_MODES, FailureModesEvaluator
from evals.judge.testing import ScriptedModel
from evals.trace import CallType, Provenance, Trace

BY_CALLS = {"1.3", "1.5", "2.1", "2.5", "3.1"}
ABSENT = '{"verdict": "absent", "reason": "nothing of the kind", "step_ids": []}'


async def modes(of, ask=None, **options):
    """The evaluation of a trace, and its verdicts by code."""
    options = {"produced_by": "llm:scripted", **options} if ask is not None else options
    registry = EvaluatorRegistry([FailureModesEvaluator(ask, **options)])
    (evaluation,) = await registry.run(EvaluationContext(trace=of))
    return evaluation, {mode["code"]: mode for mode in evaluation.details.get("modes", [])}


async def verdict(code, of):
    _, found = await modes(of)
    return found[code]["verdict"], found[code]["step_ids"]


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


# 1.3 step repetition


def asking(teams, *texts, failed=(), **more):
    """Calls from a to b with these texts, below a request of the user."""
    calls = [
        teams.step(
            f"c{n}",
            "a",
            "b",
            n,
            n + 0.5,
            request_text=text,
            parent_step_id="root",
            error="it broke" if n in failed else None,
            **more,
        )
        for n, text in enumerate(texts, start=1)
    ]
    return teams.trace(teams.from_user("root", "a", 0, 100), *calls)


async def test_the_same_call_three_times_is_repetition(teams):
    assert await verdict("1.3", asking(teams, "q", "q", "q", "q")) == (
        "present",
        ["c1", "c2", "c3", "c4"],
    )


async def test_the_same_call_twice_is_no_repetition(teams):
    assert await verdict("1.3", asking(teams, "q", "r", "q")) == ("absent", [])


async def test_a_failure_between_begins_the_count_anew(teams):
    assert (await verdict("1.3", asking(teams, "q", "q", "q", failed={2})))[0] == "absent"
    assert await verdict("1.3", asking(teams, *"qqqqq", failed={2})) == (
        "present",
        ["c3", "c4", "c5"],
    )


async def test_tools_that_are_called_again_are_repetition_too(teams):
    of = asking(teams, "q", "q", "q", call_type=CallType.TOOL)
    assert (await verdict("1.3", of))[0] == "present"


async def test_a_user_who_says_the_same_again_is_no_repetition_of_the_agent(teams):
    turns = [teams.step(f"c{n}", "green", "purple", n, n + 1, request_text="yes") for n in range(4)]
    assert (await verdict("1.3", teams.trace(*turns)))[0] == "abstain"
    tools = [
        teams.step(f"t{n}", "purple", "search", n, n, request_text="q", call_type=CallType.TOOL)
        for n in range(3)
    ]
    assert (await verdict("1.3", teams.trace(*turns, *tools)))[0] == "present"


async def test_repetition_is_abstained_from_where_no_step_says_what_was_asked(teams):
    of = teams.trace(
        teams.from_user("root", "a", 0, 9), teams.step("c1", "a", "b", 1, 2, request_text=None)
    )
    assert (await verdict("1.3", of))[0] == "abstain"


# 1.5 unaware of termination


async def test_a_call_after_the_request_it_serves_was_answered_is_unaware_of_termination(teams):
    of = teams.trace(
        teams.from_user("root", "a", 0, 5),
        teams.step("c1", "a", "b", 1, 2, parent_step_id="root"),
        teams.step("c2", "a", "b", 5.001, 6, parent_step_id="root"),
    )
    assert await verdict("1.5", of) == ("present", ["c2"])


async def test_a_call_that_begins_as_the_request_is_answered_is_not(teams):
    of = teams.trace(
        teams.from_user("root", "a", 0, 5),
        teams.step("c1", "a", "b", 5, 6, parent_step_id="root"),
    )
    assert await verdict("1.5", of) == ("absent", [])


async def test_a_tool_that_the_user_s_side_runs_after_the_reply_is_not(teams):
    of = teams.trace(
        teams.step("c1", "green", "purple", 0, 1),
        teams.step("t1", "purple", "search", 2, 3, parent_step_id="c1", call_type=CallType.TOOL),
    )
    assert (await verdict("1.5", of))[0] == "abstain"


@pytest.mark.parametrize("code", ["1.5", "2.5", "3.1"])
async def test_clocks_of_different_observers_are_not_compared(teams, code):
    of = teams.trace(
        teams.from_user("root", "a", 0, 5),
        teams.step("c1", "a", "b", 9, 10, parent_step_id="root", provenance=Provenance.REPORTED),
    )
    assert (await verdict(code, of))[0] == "abstain"


# 2.1 conversation reset


async def test_the_opening_two_requests_again_are_a_reset(teams):
    of = asking(teams, "hello", "order 7", "refund", "hello", "order 7")
    assert await verdict("2.1", of) == ("present", ["c4", "c5"])


@pytest.mark.parametrize(
    ("texts", "failed"),
    [
        (("hello", "order 7", "hello", "order 8"), ()),
        (("hello", "order 7", "hello"), ()),
        (("hello", "hello", "hello", "hello"), ()),
        (("hello", "order 7", "hello", "order 7"), (2,)),
    ],
    ids=["other second request", "first alone", "the same only", "after a failure"],
)
async def test_less_than_that_is_no_reset(teams, texts, failed):
    assert await verdict("2.1", asking(teams, *texts, failed=failed)) == ("absent", [])


# 2.5 ignored input and 3.1 premature end


def nested(teams, inner_end, *, root_end=20, error=None, **more):
    """The user asks a, a asks b from 1 to 10, b asks c from 2 on."""
    return teams.trace(
        teams.from_user("root", "a", 0, root_end),
        teams.step("c1", "a", "b", 1, 10, parent_step_id="root"),
        teams.step("c2", "b", "c", 2, inner_end, parent_step_id="c1", error=error),
    )


async def test_an_agent_that_answers_before_its_colleague_has_ignored_it(teams):
    assert await verdict("2.5", nested(teams, 11)) == ("present", ["c2"])
    assert await verdict("3.1", nested(teams, 11)) == ("absent", [])


async def test_an_agent_that_waits_for_its_colleague_has_not(teams):
    assert await verdict("2.5", nested(teams, 10)) == ("absent", [])


async def test_whether_a_failure_that_nothing_followed_was_heeded_is_abstained_from(teams):
    assert (await verdict("2.5", nested(teams, 5, error="it broke")))[0] == "abstain"


async def test_a_failure_after_which_the_agent_tried_something_else_was_heeded(teams):
    steps = nested(teams, 5, error="it broke").steps
    other = teams.step("c3", "b", "d", 6, 7, parent_step_id="c1")
    assert await verdict("2.5", teams.trace(*steps, other)) == ("absent", [])


async def test_a_task_that_is_answered_while_a_call_is_open_ended_too_early(teams):
    of = nested(teams, 25, root_end=12)
    assert await verdict("3.1", of) == ("present", ["c2"])
    failed = of.steps[0].model_copy(update={"error": "gave up"})
    assert await verdict("3.1", teams.trace(failed, *of.steps[1:])) == ("absent", [])


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
