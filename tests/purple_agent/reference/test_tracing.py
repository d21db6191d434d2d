"""Steps of a reply."""

import asyncio

import pytest

from purple_agent.case import ToolCall, ToolResult
from purple_agent.errors import ToolsUnavailableError
from purple_agent.reference.tracing import TimedTools, collect_tool_steps


async def test_a_call_that_is_cut_off_leaves_a_step():
    class Hanging:
        async def specs(self):
            raise ToolsUnavailableError("none")

        async def call(self, call):
            await asyncio.Event().wait()
            return ToolResult(text="")

        async def aclose(self):
            """Nothing is open."""

    tools = TimedTools(Hanging(), clock=lambda: 1.0)
    with collect_tool_steps() as steps, pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await tools.call(ToolCall(id="call-1", name="pay", arguments={}))
    assert [(step.tool, step.outcome) for step in steps] == [("pay", "failed")]
