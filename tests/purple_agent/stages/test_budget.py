"""Stage 1: what is left to think with."""

import pytest

from purple_agent.case import (
    BudgetLevel,
    Case,
    Dialect,
    Entry,
    Incoming,
    Session,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from purple_agent.settings import ModelChoice, ReferenceSettings
from purple_agent.stages.budget import BudgetStage, level_for, next_prompt

MODEL = ModelChoice(name="a-model")


def a_case(text="", *, dialect=Dialect.BUSINESS, **session):
    return Case(
        incoming=Incoming(context_id="c", message_id="m", text=text),
        session=Session(context_id="c", dialect=dialect, **session),
    )


def settings(**values):
    return ReferenceSettings(primary=MODEL, **values)


@pytest.mark.parametrize(
    ("used", "level"),
    [
        (0, BudgetLevel.FULL),
        (79, BudgetLevel.FULL),
        (80, BudgetLevel.SMALL),
        (99, BudgetLevel.SMALL),
        (100, BudgetLevel.NONE),
        (500, BudgetLevel.NONE),
    ],
)
def test_from_four_fifths_on_the_small_model_thinks_and_from_all_of_it_none(used, level):
    assert level_for(used, 100) is level


@pytest.mark.parametrize(
    ("spent", "level"),
    [(7_989, BudgetLevel.FULL), (7_990, BudgetLevel.SMALL), (9_990, BudgetLevel.NONE)],
)
async def test_what_was_spent_and_the_next_prompt_count_together(spent, level):
    # Ten tokens of text, and two line ends that separate it from policy and summary.
    stage = BudgetStage(settings(), counter=lambda text: len(text.strip()))
    assert (await stage(a_case("x" * 10, spent_tokens=spent))).budget_level is level


async def test_each_dialect_has_its_own_limit():
    stage = BudgetStage(settings(business_tokens=100, tau2_tokens=1_000))
    spent = {"spent_tokens": 500}
    assert (await stage(a_case(**spent))).budget_level is BudgetLevel.NONE
    assert (await stage(a_case(dialect=Dialect.TAU2, **spent))).budget_level is BudgetLevel.FULL
    assert stage.level_left(a_case(dialect=Dialect.TAU2, **spent).session) is BudgetLevel.FULL


async def test_a_prompt_too_long_for_the_models_window_leaves_nothing():
    stage = BudgetStage(settings(), counter=len, window=lambda: 50)
    assert (await stage(a_case("x" * 30))).budget_level is BudgetLevel.FULL
    assert (await stage(a_case("x" * 45))).budget_level is BudgetLevel.SMALL
    assert (await stage(a_case("x" * 60))).budget_level is BudgetLevel.NONE


async def test_without_a_model_nothing_is_counted():
    stage = BudgetStage(ReferenceSettings(), counter=lambda _: pytest.fail("counted"))
    case = a_case("hello", spent_tokens=10**9)
    assert await stage(case) is case


async def test_a_counter_that_fails_is_replaced_by_a_rough_count(caplog):
    def counter(text):
        raise RuntimeError("no tokenizer")

    stage = BudgetStage(settings(business_tokens=100), counter=counter)
    assert (await stage(a_case("x" * 4_000))).budget_level is BudgetLevel.NONE
    assert "cannot count tokens" in caplog.text


def test_all_that_a_model_will_read_is_counted():
    call = ToolCall(id="call-1", name="get_it", arguments={"of": "ARGUMENT"})
    case = a_case(
        "INCOMING",
        policy_text="POLICY",
        summary="SUMMARY",
        specs=(
            ToolSpec(
                name="NAME",
                description="DESCRIPTION",
                parameters={"type": "SCHEMA"},
                is_write=False,
            ),
        ),
        entries=[
            Entry(role="user", text="SAID"),
            Entry(role="call", call=call),
            Entry(role="result", call=call, result=ToolResult(text="RESULT")),
        ],
    )
    words = [
        "INCOMING",
        "POLICY",
        "SUMMARY",
        "NAME",
        "DESCRIPTION",
        "SCHEMA",
        "SAID",
        "ARGUMENT",
        "RESULT",
    ]
    assert [word for word in words if word not in next_prompt(case)] == []
