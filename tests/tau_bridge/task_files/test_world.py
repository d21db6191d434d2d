"""Tools of task files: what a call gives, what it changes, and what is wrong with it."""

import json

import pytest

from tau_bridge.messages import ToolCall
from tau_bridge.task_files.world import TableWorld, schemas

FILE = """
    tables:
      orders:
        A-17: {status: delivered, total: 40.5}
        "18": {status: shipped}
    tools:
      - name: get_order
        parameters:
          type: object
          properties: {order_id: {type: string}}
          required: [order_id]
        reads: {table: orders, key: order_id}
        otherwise: no such order
      - name: cancel
        parameters:
          {type: object, properties: {order_id: {type: [string, integer]}, who: {type: string}}}
        results:
          - {when: {order_id: "18"}, give: it is on its way, error: true}
          - {when: {order_id: A-17}, give: {done: true}}
        sets: {table: orders, key: order_id, values: {status: cancelled, by: $who, tags: [x]}}
      - name: rate
        results:
          - {when: {stars: 1}, give: sorry}
          - {when: {stars: true}, give: odd}
          - {give: thanks}
    tasks: [{prompt: x, expect: {contains: y}}]
"""


@pytest.fixture
def call(read):
    """Makes calls in one world; returns the content and whether it is an error."""
    world = TableWorld(read(FILE))

    async def made(name, **arguments):
        result = await world.respond(ToolCall(id="1", name=name, arguments=arguments))
        return result.content, result.error

    made.world = world
    return made


async def test_a_row_is_read_and_after_a_write_read_as_it_is_then(call):
    content, error = await call("get_order", order_id="A-17")
    assert (json.loads(content), error) == ({"status": "delivered", "total": 40.5}, False)
    assert json.loads((await call("cancel", order_id="A-17", who="me"))[0]) == {"done": True}
    row = json.loads((await call("get_order", order_id="A-17"))[0])
    assert row == {"status": "cancelled", "total": 40.5, "by": "me", "tags": ["x"]}


async def test_a_result_that_is_an_error_writes_nothing(call):
    assert await call("cancel", order_id="18") == ("it is on its way", True)
    assert call.world.tables["orders"]["18"] == {"status": "shipped"}


async def test_what_nothing_fits_is_given_otherwise(call):
    assert await call("get_order", order_id="B") == ("no such order", False)
    assert await call("cancel", order_id="B") == ('{"error": "not found"}', False)
    # A row is found by the text of its key.
    assert json.loads((await call("cancel", order_id=18))[0])["status"] == "cancelled"


async def test_values_are_compared_by_type(call):
    assert (await call("rate", stars=1))[0] == "sorry"
    assert (await call("rate", stars=True))[0] == "odd"
    assert (await call("rate", stars=2))[0] == "thanks"


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("get_order", {"order_id": 17}, "Error: get_order: order_id: 17 is not of type 'string'"),
        ("get_order", {}, "Error: get_order: 'order_id' is a required property"),
        ("get_oder", {}, "Error: no tool 'get_oder': did you mean 'get_order'?"),
        ("cancel", {"order_id": [["A"] * 3]}, "Error: cancel: order_id: "),
    ],
)
async def test_wrong_calls_are_answered_with_what_is_wrong(call, name, arguments, problem):
    content, error = await call(name, **arguments)
    assert error
    assert content.startswith(problem)


async def test_each_conversation_has_tables_of_its_own(read):
    file = read(FILE)
    first, second = TableWorld(file), TableWorld(file)
    await first.respond(ToolCall(name="cancel", arguments={"order_id": "A-17"}))
    assert first.tables != second.tables
    assert second.tables["orders"]["A-17"]["status"] == "delivered"


def test_agents_are_told_of_tools_in_the_common_format(read):
    [first, *_] = schemas(read(FILE).tools)
    assert first["function"]["name"] == "get_order"
    assert first["function"]["parameters"]["required"] == ["order_id"]
