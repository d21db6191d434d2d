"""Sessions by context: one message at a time, bounded in number and age, closed properly."""

import asyncio
import gc
import weakref

import pytest

from purple_agent.case import Dialect, Entry, Session
from purple_agent.sessions import SessionStore


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def __call__(self):
        return self.now_s


class Tools:
    """Tools that only know whether they were closed."""

    def __init__(self):
        self.closed = False

    async def aclose(self):
        self.closed = True


def business(context_id):
    return lambda: Session(context_id=context_id, dialect=Dialect.BUSINESS)


async def used(store, context_id):
    async with store.hold(context_id, business(context_id)) as session:
        return session


async def test_a_context_keeps_its_session_and_others_have_their_own():
    store = SessionStore()
    one, other = await used(store, "one"), await used(store, "other")
    assert await used(store, "one") is one
    assert other is not one


async def test_the_dialect_of_the_first_message_stays():
    store = SessionStore()
    first = await used(store, "one")
    tau2 = Session(context_id="one", dialect=Dialect.TAU2)
    async with store.hold("one", lambda: tau2) as session:
        assert session is first


async def test_messages_of_one_context_are_worked_on_one_after_the_other():
    store, order, go_on = SessionStore(), [], asyncio.Event()

    async def first():
        async with store.hold("one", business("one")):
            order.append("first begins")
            await go_on.wait()
            order.append("first ends")

    async def second():
        async with store.hold("one", business("one")):
            order.append("second begins")

    async with asyncio.TaskGroup() as group:
        group.create_task(first())
        group.create_task(second())
        await used(store, "another context does not wait")
        go_on.set()
    assert order == ["first begins", "first ends", "second begins"]


async def test_a_message_that_fails_leaves_the_session_free():
    store = SessionStore()
    with pytest.raises(RuntimeError, match="broke"):
        async with store.hold("one", business("one")):
            raise RuntimeError("broke")
    assert await used(store, "one")


async def test_a_session_is_forgotten_after_an_hour_without_use():
    clock = Clock()
    store = SessionStore(clock=clock)
    first = await used(store, "one")
    clock.now_s = 3_599
    assert await used(store, "one") is first
    clock.now_s += 3_600
    assert await used(store, "one") is not first


async def test_the_session_used_longest_ago_gives_way():
    store = SessionStore(max_sessions=2)
    for context_id in ("a", "b", "a", "c"):
        await used(store, context_id)
    assert "b" not in store
    assert "a" in store
    assert "c" in store


async def test_tools_of_a_forgotten_session_are_closed():
    store, tools = SessionStore(max_sessions=1), Tools()
    (await used(store, "one")).tools = tools
    await used(store, "two")
    await store.background.settle()
    assert tools.closed


async def test_a_session_in_use_is_never_forgotten():
    clock = Clock()
    store = SessionStore(clock=clock, max_sessions=1)
    async with store.hold("one", business("one")) as session:
        clock.now_s = 10_000
        await used(store, "two")
        assert await used(store, "three")
        assert "one" in store
    assert await used(store, "one") is session


async def test_memory_is_bounded_after_ten_thousand_contexts():
    store = SessionStore()
    seen = []
    for number in range(10_000):
        session = await used(store, f"context-{number}")
        session.entries.append(Entry(role="user", text="hello"))
        seen.append(weakref.ref(session))
    del session
    gc.collect()
    assert len(store) == 1_000
    assert sum(ref() is not None for ref in seen) == 1_000


async def test_a_session_is_amended_only_between_two_messages():
    store, order = SessionStore(), []
    async with store.hold("one", business("one")) as session:
        store.background.start(store.amend(session, lambda _: order.append("amended")), name="x")
        await asyncio.sleep(0)
        order.append("message done")
    await store.background.settle()
    assert order == ["message done", "amended"]


async def test_a_session_that_was_forgotten_is_not_amended():
    store = SessionStore(max_sessions=1)
    old = await used(store, "one")
    await used(store, "two")
    assert not await store.amend(old, lambda _: pytest.fail("it was forgotten"))
    assert not await store.amend(
        Session(context_id="two", dialect=Dialect.BUSINESS), lambda _: pytest.fail("another one")
    )


async def test_closing_waits_for_what_is_under_way_and_closes_all_tools():
    store, tools, done = SessionStore(), Tools(), []

    async def work():
        await asyncio.sleep(0)
        done.append("worked")

    (await used(store, "one")).tools = tools
    store.background.start(work(), name="work")
    await store.aclose()
    assert done == ["worked"]
    assert tools.closed
    assert len(store) == 0
