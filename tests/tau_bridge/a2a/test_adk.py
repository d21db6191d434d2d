"""An agent of google-adk whose JSON answers are taken for native function calls is told so by name.

The events are those that google-adk 2.13.0 sends.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tau_bridge.a2a.adk import MOST_MISSED
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentError, AgentFailedError, AgentProtocolError
from tau_bridge.recorder import TraceRecorder
from tests.fakes.hostile import raw_agent, sse, task_event

from .conftest import Serving

MISSING = (
    "Invoking `respond()` failed as no tool with that name is available. The tools you can call"
    " are: none. You could retry, but it is IMPORTANT that you only call a tool from that list."
)
CALL = {"id": "adk_1", "name": "respond", "args": {"content": "Hello"}}


def working(number: int, data: dict[str, Any], kind: str) -> bytes:
    part = {"data": data, "metadata": {"adk_type": kind}}
    message = {"messageId": f"{kind}-{number}", "role": "ROLE_AGENT", "parts": [part]}
    status = {"state": "TASK_STATE_WORKING", "message": message}
    update = {"taskId": "task-1", "contextId": "context-1", "status": status}
    return sse({"statusUpdate": update})


def ended(state: str, text: str) -> bytes:
    message = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    status = {"state": state, "message": message}
    return sse({"statusUpdate": {"taskId": "task-1", "contextId": "context-1", "status": status}})


def adk_agent(rounds: int, error: str, last: bytes | None) -> Starlette:
    """Calls the same function `rounds` times in vain; without a last event it stays silent then."""

    async def events() -> AsyncIterator[bytes]:
        yield sse(task_event("TASK_STATE_SUBMITTED"))
        for number in range(rounds):
            yield working(number, CALL, "function_call")
            answered = {"id": "adk_1", "name": "respond", "response": {"error": error}}
            yield working(number, answered, "function_response")
        if last is None:
            await asyncio.Event().wait()
        else:
            yield last

    async def answer(_: Request) -> Response:
        return StreamingResponse(events(), media_type="text/event-stream")

    return raw_agent(answer)


Failing = Callable[[Starlette, Messenger], Awaitable[AgentError]]


@pytest.fixture
def failure(serving: Serving, recorder: TraceRecorder) -> Failing:
    """The error that a message to an agent ends in."""

    async def failing(agent: Starlette, messenger: Messenger) -> AgentError:
        with pytest.raises(AgentError) as caught:
            await messenger.conversation(serving(agent), recorder=recorder).send("hello")
        return caught.value

    return failing


async def test_an_agent_that_calls_what_it_lacks_again_and_again_is_not_waited_for(
    failure: Failing, messenger: Messenger
) -> None:
    error = await failure(adk_agent(MOST_MISSED, MISSING, None), messenger)
    assert type(error) is AgentProtocolError
    assert "google-adk" in str(error)
    assert "'respond'" in str(error)
    assert "after_model_callback" in str(error)


async def test_one_that_takes_too_long_over_it_is_told_why(
    failure: Failing, impatient: Messenger
) -> None:
    error = await failure(adk_agent(1, MISSING, None), impatient)
    assert "gave no reply within" in str(error)
    assert "its task was working" in str(error)
    assert "after_model_callback" in str(error)


async def test_one_that_fails_over_it_is_told_why_after_its_own_words(
    failure: Failing, messenger: Messenger
) -> None:
    last = ended("TASK_STATE_FAILED", "Max number of llm calls limit of `500` exceeded")
    error = await failure(adk_agent(2, MISSING, last), messenger)
    assert type(error) is AgentFailedError
    words, _, advice = str(error).partition("exceeded")
    assert "limit of `500`" in words
    assert "after_model_callback" in advice


async def test_one_that_finds_another_way_is_heard(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    url = serving(adk_agent(MOST_MISSED - 1, MISSING, ended("TASK_STATE_COMPLETED", "Hello")))
    reply = await messenger.conversation(url, recorder=recorder).send("hello")
    assert reply.text == "Hello"


@pytest.mark.parametrize("error", ["Error: page not found", "the tool timed out", ""])
async def test_errors_of_tools_that_an_agent_has_are_its_own_business(
    failure: Failing, messenger: Messenger, error: str
) -> None:
    last = ended("TASK_STATE_FAILED", "I give up")
    raised = await failure(adk_agent(MOST_MISSED + 5, error, last), messenger)
    assert type(raised) is AgentFailedError
    assert "adk" not in str(raised)
