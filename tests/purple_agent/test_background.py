"""Work that goes on beside the replies."""

import asyncio

from purple_agent.background import Background


async def test_what_fails_in_the_background_is_logged_and_harms_nothing(caplog):
    background, done = Background(), []

    async def broken():
        raise ValueError("odd")

    async def fine():
        done.append(True)

    background.start(broken(), name="the broken one")
    background.start(fine(), name="the fine one")
    await background.aclose()
    assert done == [True]
    assert "background work failed: the broken one" in caplog.text


async def test_work_that_does_not_end_is_cancelled_at_the_end(caplog):
    background = Background()
    background.start(asyncio.Event().wait(), name="endless")
    await background.aclose(grace_s=0)
    assert len(background) == 0
    assert "endless" in caplog.text
