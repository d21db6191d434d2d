"""Tools that the first message of a τ² conversation describes."""

import pytest

from purple_agent import wire
from purple_agent.toolbox.failures import Cause, EndpointError
from purple_agent.toolbox.wire import WireTools
from tests.purple_agent.toolbox.servers import called

TEXT = f'Policy.\n{wire.TOOLS_LINE}\n[{{"name": "book"}}]\n{wire.USER_LINE}\nHi'


async def test_the_tools_are_those_of_the_message():
    tools = WireTools(TEXT)
    assert [(spec.name, spec.is_write) for spec in await tools.specs()] == [("book", True)]
    assert tools.notes == ()


async def test_a_call_is_made_by_replying_and_not_here():
    result = await WireTools(TEXT).call(called("book"))
    assert (result.failed, result.cause) == (True, Cause.UNSENT)


async def test_another_message_describes_no_tools():
    tools = WireTools("Hello")
    with pytest.raises(EndpointError, match="describes no tools"):
        await tools.specs()
    await tools.aclose()
