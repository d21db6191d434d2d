"""Where the tools that benchmarks offer to agents are served."""

import socket

import httpx
import pytest

from adk_agent.core.errors import PreflightError
from adk_agent.play.tools import served_tools


async def test_tools_are_served_where_an_agent_on_another_machine_is_told_to_find_them():
    elsewhere = {"http://192.0.2.7:9010": "http://192.0.2.7:9010"}
    async with (
        served_tools("http://assessor.example", elsewhere) as tools,
        httpx.AsyncClient() as client,
    ):
        host, _, port = tools.endpoint.rpartition(":")
        url = f"http://127.0.0.1:{port}/mcp/tools"
        answer = await client.get(url, params={"session_id": "guess"})
    assert (host, answer.status_code) == ("http://assessor.example", 404)


async def test_tools_whose_port_is_taken_are_refused_before_anything_is_played():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(PreflightError, match=f"cannot be served at {url}"):
            async with served_tools(url, {}):
                pytest.fail("served")
