"""When a head counts as lost, with one that is a socket of this process."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from adk_agent.play.executors.head_watch import MISSES, HeadWatch
from adk_agent.play.executors.worker_pool import WorkerLostError
from tests.fakes import closed_port


@asynccontextmanager
async def listening():
    """The address of somebody who takes connections, and the count of them."""
    count = []
    looked = asyncio.Condition()

    async def taken(reader, writer):
        async with looked:
            count.append(1)
            looked.notify_all()
        writer.close()

    async def looks(number):
        async with looked:
            await looked.wait_for(lambda: len(count) >= number)

    async with await asyncio.start_server(taken, "127.0.0.1", 0) as server:
        yield "{}:{}".format(*server.sockets[0].getsockname()), looks, server


async def test_while_the_head_answers_results_are_those_of_the_cluster():
    async with listening() as (address, looks, _):
        head = HeadWatch(address, every_s=0)
        async with head.watching():
            await looks(2 * MISSES)
            await head.answered()
            assert await head.result(asyncio.sleep(0, "a result")) == "a result"
            with pytest.raises(ValueError, match="of the cluster"):
                await head.result(broken())


async def broken():
    raise ValueError("of the cluster")


async def test_what_waits_for_a_head_that_is_lost_is_told_so():
    async with listening() as (address, looks, server):
        head = HeadWatch(address, every_s=0)
        async with head.watching():
            waiting = asyncio.ensure_future(head.result(asyncio.Event().wait()))
            await looks(1)
            server.close()
            with pytest.raises(WorkerLostError, match=f"{address}' is gone .*greenroom resume"):
                await waiting
            with pytest.raises(WorkerLostError):
                await head.result(asyncio.Event().wait())
            with pytest.raises(WorkerLostError):
                await head.answered()


async def test_to_cancel_what_waits_cancels_what_it_waits_for():
    ended = asyncio.Event()

    async def endless():
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with closed_port() as url:
        head = HeadWatch(url.removeprefix("http://"))
        async with head.watching():
            waiting = asyncio.ensure_future(head.result(endless()))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
    await ended.wait()
