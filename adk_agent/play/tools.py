"""served_tools: the server of the tools that benchmarks offer to agents."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager

from adk_agent.core.errors import PreflightError
from tau_bridge.a2a.networks import is_on_this_machine
from tau_bridge.tool_server import ToolServer

ServeTools = Callable[[Mapping[str, str]], AbstractAsyncContextManager[ToolServer]]
"""Opens the server for a run's agents: each address in the plan to where the agent answers."""


@contextlib.asynccontextmanager
async def served_tools(url: str | None, agents: Mapping[str, str]) -> AsyncIterator[ToolServer]:
    """Serve the tools of a run's tasks to its agents.

    Args:
        url: At which agents on other machines reach them; None: on loopback alone.
        agents: Each participant's address in the plan to the address where it answers.

    Raises:
        PreflightError: an agent cannot reach them, or they cannot be served.
    """
    elsewhere = sorted(address for address, at in agents.items() if not is_on_this_machine(at))
    if elsewhere and url is None:
        raise PreflightError(
            f"cannot play with {', '.join(elsewhere)}: the tools of these tasks are served on "
            "127.0.0.1, which an agent on another machine cannot reach. Run the agent on this "
            "machine and name it by http://localhost:<port>, or say by GREENROOM_TOOLS_URL at which "
            "address it reaches this machine"
        )
    async with contextlib.AsyncExitStack() as stack:
        try:
            tools = await stack.enter_async_context(ToolServer(url=url))
        except (OSError, ValueError) as error:
            where = f" at {url}" if url else ""
            raise PreflightError(
                f"the tools of these tasks cannot be served{where}: {error}; leave the port "
                "out of GREENROOM_TOOLS_URL to have a free one taken"
            ) from error
        yield tools
