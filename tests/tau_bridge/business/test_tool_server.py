"""The tools' server, over HTTP."""

import asyncio
import itertools

import httpx
import pytest

from tau_bridge.clock import Runtime
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tool_server import ToolServer, ToolServerLimits


@pytest.fixture
async def serving(make_world):
    """A server with small limits, a client of it, and what opens a session."""
    numbers = itertools.count(1)
    limits = ToolServerLimits(max_request_bytes=2000, max_calls=3, max_depth=4)
    async with (
        ToolServer(limits=limits, new_session_id=lambda: f"s{next(numbers)}") as tools,
        httpx.AsyncClient(base_url=tools.endpoint) as client,
    ):

        def session():
            recorder = TraceRecorder("t", runtime=Runtime.system())
            return tools.session(make_world(), recorder=recorder, caller="agent", name="shop")

        yield client, session


def call(session_id, tool="get_order", params=None):
    return {"tool": tool, "params": params or {"order_id": "O-1"}, "session_id": session_id}


async def test_tools_are_listed_and_called(serving):
    client, session = serving
    with session() as opened:
        listed = await client.get("/mcp/tools", params={"session_id": opened.id})
        tools = {tool["name"]: tool for tool in listed.json()["tools"]}
        assert tools["get_order"]["annotations"] == {"readOnlyHint": True}
        assert "annotations" not in tools["set_order"]
        assert tools["get_order"].keys() == {"name", "description", "input_schema", "annotations"}
        answer = await client.post("/mcp", json=call(opened.id))
        assert answer.json()["result"]["item"] == "red lamp"
        refused = await client.post("/mcp", json=call(opened.id, params={"order_id": "O-9"}))
        assert (refused.status_code, list(refused.json())) == (200, ["error"])


async def test_calls_become_steps_of_the_trace(serving):
    client, session = serving
    with session() as opened:
        await client.post("/mcp", json=call(opened.id))
        await client.post("/mcp", json=call(opened.id, "drop"))
        read, failed = opened.recorder.trace().steps
    assert (read.caller, read.callee, read.name) == ("agent", "shop", "get_order")
    assert read.request_text == '{"order_id": "O-1"}'
    assert '"red lamp"' in read.response_text
    assert failed.error.startswith("unknown tool 'drop'")


async def test_sessions_know_nothing_of_each_other(serving):
    client, session = serving
    with session() as one, session() as other:
        cancel = {"order_id": "O-1", "status": "cancelled"}
        await client.post("/mcp", json=call(one.id, "set_order", cancel))
        read = await client.post("/mcp", json=call(other.id))
        assert read.json()["result"]["status"] == "open"
        assert (len(one.world.calls), len(other.world.calls)) == (1, 1)


async def test_a_session_that_has_ended_is_not_known_any_more(serving):
    client, session = serving
    with session() as opened:
        pass
    answers = [
        await client.post("/mcp", json=call(opened.id)),
        await client.get("/mcp/tools", params={"session_id": opened.id}),
        await client.get("/mcp/tools"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert {answer.json()["error"].partition(":")[0] for answer in answers} == {"unknown session"}


async def test_further_calls_than_allowed_are_not_made(serving):
    client, session = serving
    with session() as opened:
        answers = [await client.post("/mcp", json=call(opened.id)) for _ in range(5)]
        assert ["error" in answer.json() for answer in answers] == [False] * 3 + [True] * 2
        assert len(opened.world.calls) == 3


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"\xff", 400),
        (b'{"session_id": "s1", "tool": 1, "params": {}}', 400),
        (b'{"session_id": "s1", "tool": "get_order", "params": []}', 400),
        (b'{"session_id": "s1", "tool": "get_order", "params": {"order_id": NaN}}', 400),
        (b'{"session_id": "s1", "tool": "get_order", "params": {"order_id": 1e999}}', 400),
        (b'{"session_id": "s1", "tool": "\\ud800", "params": {}}', 400),
        (b'{"session_id": ["s1"], "tool": "get_order"}', 404),
        (b'{"tool": "get_order"}', 404),
        (b'{"session_id": "s1", "a": ' + b"[" * 5 + b"]" * 5 + b"}", 400),
        (b"[" * 1900, 400),
        (b" " * 2001, 413),
    ],
)
async def test_what_is_no_call_is_refused_in_words(serving, body, status):
    client, session = serving
    with session() as opened:
        answer = await client.post("/mcp", content=body)
        assert (answer.status_code, list(answer.json())) == (status, ["error"])
        assert opened.world.calls == []


async def test_other_addresses_are_not_there(serving):
    client, _ = serving
    answers = [await client.get("/"), await client.post("/mcp/tools"), await client.delete("/mcp")]
    assert [answer.status_code for answer in answers] == [404] * 3


async def test_many_calls_at_once_are_all_made(serving):
    client, session = serving
    with session() as one, session() as two:
        made = await asyncio.gather(
            *(client.post("/mcp", json=call(each.id)) for each in (one, two) for _ in range(3))
        )
    assert all("result" in answer.json() for answer in made)


async def test_a_server_that_was_not_started_has_no_address():
    with pytest.raises(RuntimeError, match="async with"):
        ToolServer().endpoint  # noqa: B018 - reading it is what fails


@pytest.mark.parametrize("limit", ["max_request_bytes", "max_calls", "max_depth"])
def test_limits_are_positive(limit):
    with pytest.raises(ValueError, match=limit):
        ToolServerLimits(**{limit: 0})
