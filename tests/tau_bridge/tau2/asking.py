"""Calls of a world, in short."""

from tau_bridge.messages import ToolCall
from tau_bridge.tau2.tasks import parse_task


def task(**initial_state):
    return parse_task(
        {
            "id": "t",
            "user_scenario": {"instructions": "Do it."},
            "initial_state": initial_state or None,
        }
    )


def ask(world, name, requestor="assistant", /, **arguments):
    return world.respond(ToolCall(id="call_1", name=name, arguments=arguments, requestor=requestor))


def refusal(world, name, requestor="assistant", /, **arguments):
    """The text of an error result."""
    message = ask(world, name, requestor, **arguments)
    assert message.error
    return message.content
