"""Stage 8: long conversations are summarised beside the conversation, and disturb no message."""

import asyncio
from dataclasses import replace

from purple_agent.case import BudgetLevel, Case, Dialect, Entry, Incoming, Say, Session
from purple_agent.memory.summary import Summary
from purple_agent.memory.transcript import Limits
from purple_agent.sessions import SessionStore
from purple_agent.stages.compression import CompressionStage

LIMITS = Limits(turns=3, keep_turns=2)


class Summariser:
    """Summarises when it is told to."""

    def __init__(self, *, fails=False):
        self.asked = []
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()
        self._fails = fails

    async def __call__(self, summary, entries):
        self.asked.append((summary, [entry.text for entry in entries]))
        self.begun.set()
        await self.go_on.wait()
        if self._fails:
            raise ConnectionError("the model is gone")
        return Summary(text=f"summary {len(self.asked)}", tokens=10)


def new_session():
    return Session(context_id="c", dialect=Dialect.BUSINESS)


def texts(session):
    return [entry.text for entry in session.entries]


async def say(store, stage, number, **fields):
    """One message and its reply, as the service works on them."""
    async with store.hold("c", new_session) as session:
        session.entries.append(Entry(role="user", text=f"wish {number}"))
        incoming = Incoming(context_id="c", message_id=str(number), text="")
        case = Case(incoming=incoming, session=session, reply=Say(text=f"done {number}"))
        await stage(replace(case, **fields))
        return session


async def four_turns(store, stage, **fields):
    for number in range(1, 5):
        session = await say(store, stage, number, **fields)
    return session


async def test_a_reply_is_entered_into_the_session():
    store = SessionStore()
    session = await say(store, CompressionStage(store), 1)
    assert session.entries[-1] == Entry(role="agent", text="done 1")


async def test_the_oldest_turns_give_way_to_a_summary():
    store, summarise = SessionStore(), Summariser()
    session = await four_turns(store, CompressionStage(store, summarise=summarise, limits=LIMITS))
    summarise.go_on.set()
    await store.background.settle()
    assert summarise.asked == [("", ["wish 1", "done 1", "wish 2", "done 2"])]
    assert session.summary == "summary 1"
    assert texts(session) == ["wish 3", "done 3", "wish 4", "done 4"]
    assert session.spent_tokens == 10


async def test_a_new_summary_is_made_from_the_old_one_and_replaces_it():
    store, summarise = SessionStore(), Summariser()
    summarise.go_on.set()
    stage = CompressionStage(store, summarise=summarise, limits=LIMITS)
    session = await four_turns(store, stage)
    await store.background.settle()
    for number in (5, 6):
        await say(store, stage, number)
    await store.background.settle()
    assert summarise.asked[1][0] == "summary 1"
    assert session.summary == "summary 2"


async def test_the_next_message_does_not_wait_for_the_summary_and_loses_nothing():
    store, summarise = SessionStore(), Summariser()
    stage = CompressionStage(store, summarise=summarise, limits=LIMITS)
    await four_turns(store, stage)
    await summarise.begun.wait()
    session = await say(store, stage, 5)
    assert len(summarise.asked) == 1
    summarise.go_on.set()
    await store.background.settle()
    assert texts(session) == ["wish 3", "done 3", "wish 4", "done 4", "wish 5", "done 5"]


async def test_a_message_that_is_being_worked_on_sees_no_change():
    store, summarise = SessionStore(), Summariser()
    await four_turns(store, CompressionStage(store, summarise=summarise, limits=LIMITS))
    async with store.hold("c", new_session) as session:
        summarise.go_on.set()
        for _ in range(20):
            await asyncio.sleep(0)
        assert len(session.entries) == 8
        assert session.summary == ""
    await store.background.settle()
    assert len(session.entries) == 4


async def test_a_summary_of_what_is_gone_meanwhile_is_dropped():
    store, summarise = SessionStore(), Summariser()
    session = await four_turns(store, CompressionStage(store, summarise=summarise, limits=LIMITS))
    await summarise.begun.wait()
    del session.entries[:2]
    session.summary = "made in stage 3"
    summarise.go_on.set()
    await store.background.settle()
    assert session.summary == "made in stage 3"
    assert texts(session)[0] == "wish 2"
    assert session.spent_tokens == 10


async def test_a_model_that_fails_is_logged_and_replaced(caplog):
    store, summarise = SessionStore(), Summariser(fails=True)
    session = await four_turns(store, CompressionStage(store, summarise=summarise, limits=LIMITS))
    summarise.go_on.set()
    await store.background.settle()
    assert session.summary.startswith("User: wish 1\nAgent: done 1")
    assert "the model is gone" in caplog.text


async def test_without_means_no_model_is_asked():
    store, summarise = SessionStore(), Summariser()
    stage = CompressionStage(store, summarise=summarise, limits=LIMITS)
    session = await four_turns(store, stage, budget_level=BudgetLevel.NONE)
    await store.background.settle()
    assert summarise.asked == []
    assert session.summary.startswith("User: wish 1")


async def test_closing_the_store_waits_for_the_summary():
    store = SessionStore()
    session = await four_turns(store, CompressionStage(store, limits=LIMITS))
    await store.aclose()
    assert session.summary
