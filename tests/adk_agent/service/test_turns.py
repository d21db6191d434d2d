"""OneByOne: requests that come together leave room for others between them."""

import asyncio

import pytest

from adk_agent.service.callers import CARD_PATHS
from adk_agent.service.turns import OneByOne


class Turns:
    """Counts the turns of the event loop, and keeps in which one each request was begun."""

    def __init__(self):
        self.now = 0
        self.begun = []

    async def count(self):
        while True:
            await asyncio.sleep(0)
            self.now += 1

    async def app(self, _scope, _receive, _send):
        self.begun.append(self.now)


@pytest.fixture
async def turns():
    counted = Turns()
    counting = asyncio.create_task(counted.count())
    yield counted
    counting.cancel()


def http(path):
    return {"type": "http", "path": path}


async def test_requests_that_come_together_are_begun_in_turns_of_their_own(turns):
    edge = OneByOne(turns.app)
    await asyncio.gather(*(edge(http("/"), None, None) for _ in range(50)))
    assert len(turns.begun) == 50
    assert len(set(turns.begun)) == 50


@pytest.mark.parametrize("path", CARD_PATHS)
async def test_the_card_does_not_wait_for_requests_that_came_before(turns, path):
    edge = OneByOne(turns.app)
    others = [asyncio.create_task(edge(http("/"), None, None)) for _ in range(50)]
    await asyncio.sleep(0)
    await edge(http(path), None, None)
    assert len(turns.begun) < 5
    await asyncio.gather(*others)


async def test_a_request_that_breaks_or_is_given_up_lets_the_next_one_begin(turns):
    async def broken(_scope, _receive, _send):
        raise ConnectionError("gone")

    edge = OneByOne(broken)
    given_up = asyncio.create_task(edge(http("/"), None, None))
    await asyncio.sleep(0)
    given_up.cancel()
    ended = await asyncio.gather(given_up, edge(http("/"), None, None), return_exceptions=True)
    assert [type(error) for error in ended] == [asyncio.CancelledError, ConnectionError]
    edge = OneByOne(turns.app)
    await edge(http("/"), None, None)
    assert len(turns.begun) == 1
