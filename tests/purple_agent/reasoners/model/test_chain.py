"""One model after the other, as the model reasoner asks them."""

import logging

import pytest

from purple_agent.case import BudgetLevel, Say
from purple_agent.reasoners.model.errors import NoModelLeftError
from purple_agent.settings import ModelChoice, ReferenceSettings
from tests.purple_agent.reasoners.scripted_model import TOKENS, calls

REDIRECT = ("redirect_parcel", {"parcel_id": "P-7", "address": "5 Mill Lane"})


async def test_the_fallback_sees_what_was_done_and_does_not_repeat_it(confirmed, caplog):
    alive = {"one"}

    def script(asked):
        if asked.model not in {*alive, "two"}:
            return 500
        done = '"redirected"' in asked.text
        return (
            "It is done."
            if done and asked.model == "two" and asked.notes.count("already")
            else calls(REDIRECT)
        )

    begun = await confirmed(script)
    made = await begun.next()
    alive.clear()
    with caplog.at_level(logging.WARNING):
        assert await begun.result(made, '"redirected"').next() == Say(text="It is done.")
    assert begun.reasoner.author(begun.session) == "llm:two"
    assert begun.reasoner.flags(begun.session) == ("model:two",)
    assert "one answered 500; asking the next" in caplog.text


async def test_a_dead_model_rests_and_is_asked_again_after_a_minute(talk):
    now = [0.0]
    begun = talk(
        lambda asked: 500 if asked.model == "one" else "Hello!", monotonic=lambda: now[0]
    ).user("hi")
    await begun.next()
    await begun.next()
    assert begun.completion.models == ["one", "two", "two"]
    now[0] = 60.0
    await begun.next()
    assert begun.completion.models[3:] == ["one", "two"]


async def test_small_means_ask_the_small_model(talk):
    settings = ReferenceSettings(primary=ModelChoice(name="one"), small=ModelChoice(name="tiny"))
    begun = talk(lambda asked: "Hello!", settings=settings).user("hi")
    await begun.next(budget_level=BudgetLevel.SMALL)
    await begun.next(budget_level=BudgetLevel.FULL)
    assert begun.completion.models == ["tiny", "one"]


async def test_a_question_beside_the_conversation_goes_to_the_small_model(talk):
    settings = ReferenceSettings(primary=ModelChoice(name="one"), small=ModelChoice(name="tiny"))
    begun = talk(lambda asked: f"{asked.model}: {asked.last}", settings=settings)
    assert await begun.reasoner.complete("Sum up") == ("tiny: Sum up", TOKENS)
    with pytest.raises(NoModelLeftError):
        await talk(lambda asked: 500).reasoner.complete("Sum up")


async def test_a_model_that_refuses_tools_is_asked_in_json_from_then_on(talk):
    def script(asked):
        return 400 if asked.body["tools"] else '{"name": "respond", "arguments": {"content": "Hi"}}'

    begun = talk(script).user("hello")
    assert await begun.next() == Say(text="Hi")
    assert await begun.next() == Say(text="Hi")
    assert [bool(asked.body["tools"]) for asked in begun.completion.asked] == [True, False, False]
