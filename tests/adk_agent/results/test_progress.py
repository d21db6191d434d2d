"""Following the progress of a run."""

import asyncio

from adk_agent.results.progress import streamed


async def test_leaving_what_is_followed_cancels_the_work_and_waits_for_its_end():
    ended = []

    async def work(tell):
        tell("begun")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async with streamed(work) as (told, task):
        async for each in told:
            assert each == "begun"
            break
    assert task.cancelled()
    assert ended == [True]
