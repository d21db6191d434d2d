"""SecondLoop: work in another thread's event loop, awaited, and cancelled, from the first."""

import asyncio
import contextlib
import sys
import threading
from contextvars import ContextVar

import pytest

from adk_agent.second_loop import SecondLoop

caller = ContextVar("caller", default="nobody")


@pytest.fixture
async def second():
    async with SecondLoop("second") as loop:
        yield loop


class Lasting:
    """Work that goes on until it is cancelled, and then tidies up for as long as it is told."""

    def __init__(self, *, tidies_at_once=True):
        self.begun = threading.Event()
        self.tidying = threading.Event()
        self.may_end = threading.Event()
        self.ended = False
        if tidies_at_once:
            self.may_end.set()

    async def __call__(self):
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.tidying.set()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.shield(asyncio.to_thread(self.may_end.wait, 30))
            self.ended = True


async def until(event):
    assert await asyncio.to_thread(event.wait, 30)


async def test_the_result_comes_from_a_loop_in_a_thread_of_that_name(second):
    async def work():
        return threading.current_thread().name, asyncio.get_running_loop()

    name, loop = await second.run(work)
    assert name == "second"
    assert loop is not asyncio.get_running_loop()
    assert (await second.run(work))[1] is loop


async def test_an_error_of_the_work_is_raised_where_it_is_awaited(second):
    async def work():
        raise LookupError("no such task")

    with pytest.raises(LookupError, match="no such task"):
        await second.run(work)


async def test_an_error_before_anything_is_awaited_is_raised_too(second):
    def work():
        raise LookupError("no such task")

    with pytest.raises(LookupError, match="no such task"):
        await second.run(work)


async def test_work_that_cancels_itself_is_cancelled_where_it_is_awaited(second):
    async def work():
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await second.run(work)


async def test_the_first_loop_turns_while_the_second_is_held_up(second):
    held, released = threading.Event(), threading.Event()

    async def work():
        held.set()
        return released.wait(30)

    running = asyncio.create_task(second.run(work))
    await until(held)
    released.set()  # this loop would not come to it if it were the one that is held up
    assert await running


async def test_works_go_on_side_by_side(second):
    met = asyncio.Event()

    async def first():
        await met.wait()
        return "first"

    async def other():
        met.set()
        return "other"

    assert await asyncio.gather(second.run(first), second.run(other)) == ["first", "other"]


async def test_the_work_sees_the_context_variables_of_who_asked_for_it(second):
    async def work():
        return caller.get()

    caller.set("somebody")
    assert await second.run(work) == "somebody"


async def test_a_cancellation_goes_on_when_the_work_has_tidied_up(second):
    work = Lasting(tidies_at_once=False)
    running = asyncio.create_task(second.run(work))
    await until(work.begun)
    running.cancel()
    await until(work.tidying)
    assert not running.done()
    work.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.ended


async def test_a_cancellation_before_the_work_began_ends_it_all_the_same(second):
    work = Lasting()
    running = asyncio.create_task(second.run(work))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.ended == work.begun.is_set()


async def test_an_error_while_tidying_up_does_not_replace_the_cancellation(second):
    begun = threading.Event()

    async def work():
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise OSError("the disk is full")

    running = asyncio.create_task(second.run(work))
    await until(begun)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_who_is_cancelled_twice_does_not_wait_for_the_tidying_up(second):
    work = Lasting(tidies_at_once=False)
    running = asyncio.create_task(second.run(work))
    await until(work.begun)
    running.cancel()
    await until(work.tidying)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not work.ended
    work.may_end.set()


async def test_one_work_is_cancelled_and_another_goes_on(second):
    lasting, released = Lasting(), threading.Event()

    async def work():
        return await asyncio.to_thread(released.wait, 30)

    ending, going_on = (
        asyncio.create_task(second.run(lasting)),
        asyncio.create_task(second.run(work)),
    )
    await until(lasting.begun)
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    released.set()
    assert await going_on


async def test_leaving_the_context_cancels_what_runs_and_ends_the_thread():
    work = Lasting()
    async with SecondLoop("left") as second:
        running = asyncio.create_task(second.run(work))
        await until(work.begun)
    assert work.ended
    with pytest.raises(asyncio.CancelledError):
        await running
    assert "left" not in [thread.name for thread in threading.enumerate()]


async def test_outside_of_its_context_it_runs_nothing():
    async def work():
        return 1

    second = SecondLoop("closed")
    with pytest.raises(RuntimeError, match="the event loop 'closed' is not running"):
        await second.run(work)
    async with second:
        assert await second.run(work) == 1
    with pytest.raises(RuntimeError, match="is not running"):
        await second.run(work)


async def test_it_can_be_entered_again():
    async def work():
        return threading.current_thread().name

    second = SecondLoop("again")
    for _ in range(2):
        async with second:
            assert await second.run(work) == "again"


async def test_work_that_tries_to_end_the_program_ends_alone(second):
    async def leave():
        sys.exit(3)

    async def work():
        return "done"

    with pytest.raises(RuntimeError, match="tried to end the program"):
        await second.run(leave)
    assert await second.run(work) == "done"
