"""Stages 2 and 9 with a case memory: off unless asked for, and never in the way."""

import pytest

from purple_agent.case import Case, Dialect, Incoming, Say, Session
from purple_agent.memory.cases import CaseMemory
from purple_agent.stages.memory import UNAVAILABLE, MemoryStage
from purple_agent.stages.outcome import OutcomeStage


def a_case(text="Please approve the travel expense", *, dialect=Dialect.BUSINESS, **fields):
    return Case(
        incoming=Incoming(context_id="c", message_id="m", text=text),
        session=Session(context_id="c", dialect=dialect),
        **fields,
    )


@pytest.fixture
def memory(tmp_path):
    return CaseMemory(tmp_path / "cases.db")


async def test_what_one_conversation_ends_with_helps_the_next(memory):
    await OutcomeStage(memory)(a_case(reply=Say(text="It is approved.")))
    (past,) = (await MemoryStage(memory)(a_case())).similar
    assert (past.request, past.answer) == ("Please approve the travel expense", "It is approved.")
    assert (past.process, past.quality, past.score) == ("general", 1.0, 100)


async def test_on_the_tau2_wire_nothing_is_remembered_or_recalled(memory):
    tau2 = a_case(dialect=Dialect.TAU2, reply=Say(text="It is approved."))
    await OutcomeStage(memory)(tau2)
    assert not memory.path.exists()
    await OutcomeStage(memory)(a_case(reply=Say(text="It is approved.")))
    assert (await MemoryStage(memory)(tau2)).similar == ()


async def test_without_a_memory_the_case_passes_as_it_is():
    case = a_case()
    assert await MemoryStage(None)(case) is case


@pytest.mark.parametrize(("text", "reply"), [("yes", "Done."), ("Please do the thing", " ")])
async def test_what_teaches_nothing_is_not_remembered(memory, text, reply):
    await OutcomeStage(memory)(a_case(text, reply=Say(text=reply)))
    assert not memory.path.exists()


async def test_a_memory_that_cannot_be_used_leaves_one_flag(tmp_path, caplog):
    memory = CaseMemory(tmp_path / "missing" / "cases.db")
    case = await MemoryStage(memory)(a_case(reply=Say(text="Done.")))
    assert case.flags == (UNAVAILABLE,)
    judged = await OutcomeStage(memory)(case)
    assert judged.flags == (UNAVAILABLE,)
    assert judged.quality is not None
    assert "cannot be used" in caplog.text
