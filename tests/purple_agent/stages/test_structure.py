"""Stage 10: the answer in the form that was asked for, and nothing added."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.case import (
    BudgetLevel,
    Case,
    Dialect,
    Incoming,
    Quality,
    Say,
    Session,
    ToolCall,
    Use,
)
from purple_agent.stages.structure import (
    NOTHING_TO_SAY,
    StructureStage,
    as_list,
    in_dialect,
    wants_list,
)

CALL = Use(call=ToolCall(id="call-1", name="book", arguments={"seat": "12A"}))


async def answer(reply, *, text="Please do it", dialect=Dialect.BUSINESS, **fields):
    case = Case(
        incoming=Incoming(context_id="c", message_id="m", text=text),
        session=Session(context_id="c", dialect=dialect),
        reply=reply,
        **fields,
    )
    return await StructureStage()(case)


async def test_words_are_answered_as_they_are():
    said = await answer(Say(text="Orders a, b and c:\n- a, sent\n- b, lost\n"))
    assert (said.text, said.kind) == ("Orders a, b and c:\n- a, sent\n- b, lost", "answered")


async def test_on_the_wire_words_and_calls_are_one_json_object():
    said = await answer(Say(text="Grüße"), dialect=Dialect.TAU2)
    assert json.loads(said.text) == {"name": "respond", "arguments": {"content": "Grüße"}}
    assert said.kind == "answered"
    called = await answer(CALL, dialect=Dialect.TAU2)
    assert json.loads(called.text) == {"name": "book", "arguments": {"seat": "12A"}}
    assert called.kind == "called"


@pytest.mark.parametrize("reply", [None, Say(text=" \n"), CALL])
async def test_without_words_the_agent_says_so(reply):
    said = await answer(reply)
    assert (said.text, said.kind) == (NOTHING_TO_SAY, "failed")


async def test_without_a_reply_the_wire_still_gets_its_object():
    said = await answer(None, dialect=Dialect.TAU2)
    assert json.loads(said.text)["arguments"] == {"content": NOTHING_TO_SAY}


async def test_a_budget_that_is_used_up_shows_in_the_kind():
    said = await answer(Say(text="My budget is used up."), budget_level=BudgetLevel.NONE)
    assert (said.text, said.kind) == ("My budget is used up.", "exhausted")


async def test_the_metadata_say_what_the_text_does_not():
    quality = Quality(answer=1, tools=1, policy=1, total=1)
    said = await answer(Say(text="Done."), flags=("session:long",), quality=quality)
    assert said.metadata == {
        "author": "deterministic",
        "process": {"kind": "general", "state": "DECOMPOSE"},
        "flags": ["session:long"],
        "quality": {"answer": 1, "tools": 1, "policy": 1, "total": 1},
        "deterministic": True,
    }
    assert json.loads(json.dumps(said.metadata)) == said.metadata
    by_model = await answer(Say(text="Done."), author="llm:a-model")
    assert "deterministic" not in by_model.metadata
    assert by_model.metadata["quality"] is None


@pytest.mark.parametrize(
    "text",
    [
        "List the open orders as a JSON list",
        "Return a JSON array of ids.",
        "Not in prose. Give me a json-list.",
    ],
)
def test_a_json_list_is_asked_for_by_its_name(text):
    assert wants_list(text)


@pytest.mark.parametrize(
    "text",
    [
        "List the open orders",
        "Give me a list of JSON files",
        "Please do not answer with a JSON list",
        "in prose, never as a JSON array",
        "Write sentences instead of a JSON list",
    ],
)
def test_nothing_else_asks_for_one(text):
    assert not wants_list(text)


async def test_a_list_is_made_where_it_is_asked_for():
    said = await answer(Say(text="Open orders:\n1. a\n2. b, late"), text="Orders as a JSON list")
    assert json.loads(said.text) == ["a", "b, late"]


async def test_the_wire_never_gets_a_list():
    said = await answer(Say(text="- a"), text="as a JSON list", dialect=Dialect.TAU2)
    assert json.loads(said.text)["arguments"] == {"content": "- a"}


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("The order, which is late, was sent. It arrives soon; be patient.", None),
        ("- a\n  and more\n- b", ["a and more", "b"]),
        ("* a\n\nAll completed.", ["a", "All completed."]),
        ('Here:\n```json\n["a", {"b": 1.50}]\n```', ["a", {"b": 1.5}]),
        (' [1,\n "x"] ', [1, "x"]),
        ('{"a": 1}', None),
        ("[NaN]", None),
        ("[1e999]", None),
        ("[" * 100_000, None),
    ],
)
def test_a_list_holds_what_the_text_lists_and_prose_stays_whole(text, items):
    assert json.loads(as_list(text)) == ([text] if items is None else items)


@settings(max_examples=50)
@given(st.text(alphabet='ab,.:;-* 1)\n[]"{}`', max_size=60))
def test_making_a_list_twice_makes_it_once(text):
    assert as_list(as_list(text)) == as_list(text)


async def test_what_no_message_can_carry_is_replaced():
    said = await answer(Say(text="a \ud800 b"))
    assert said.text == "a ? b"


def test_words_can_be_put_into_a_dialect_without_a_case():
    assert in_dialect("Hi", Dialect.BUSINESS) == "Hi"
    assert json.loads(in_dialect("Hi", Dialect.TAU2))["name"] == "respond"


@pytest.mark.parametrize(
    "reply",
    [
        Say(text="I have no tool to look it up.", unable=True),
        Say(text="Which customer do you mean?"),
    ],
)
async def test_an_apology_or_a_question_is_never_wrapped_in_a_list(reply):
    assert (await answer(reply, text="The ids as a JSON list")).text == reply.text
