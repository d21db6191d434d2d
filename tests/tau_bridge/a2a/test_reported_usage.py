"""The step of a call carries what the agent reported to have used, wherever the report travels."""

import itertools
from typing import Any

import pytest
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.genai import types
from starlette.requests import Request
from starlette.responses import JSONResponse

from evals.trace import (
    REPORTED_COMPLETION_TOKENS,
    REPORTED_PROMPT_TOKENS,
    REPORTED_USAGE,
    REPORTED_USAGE_IGNORED,
    InteractionStep,
)
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import AgentFailedError
from tau_bridge.recorder import TraceRecorder
from tests.fakes import raw_agent, scripted_agent, serve
from tests.fakes.adk_model import ScriptedModel

USAGE = {"usage": {"prompt_tokens": 90, "completion_tokens": 30, "cost": 0.25}}
URL = "http://agent.test"
pytestmark = pytest.mark.requirement("use:usage")


async def steps_with(
    recorder: TraceRecorder, *texts: str, fails: bool = False, **options: Any
) -> tuple[InteractionStep, ...]:
    app = scripted_agent(lambda text, _: f"heard {text}", **options)
    messenger = Messenger(apps={URL: app})
    async with app.router.lifespan_context(app):
        conversation = messenger.conversation(URL, recorder=recorder)
        for text in texts:
            if fails:
                with pytest.raises(AgentFailedError):
                    await conversation.send(text)
            else:
                await conversation.send(text)
        await messenger.aclose()
    return recorder.trace().steps


@pytest.mark.parametrize(
    ("transport", "streaming", "protocols"),
    [
        *itertools.product(
            ("artifact_text", "artifact_chunks", "status", "message"), (True, False), [("1.0",)]
        ),
        ("artifact_text", True, ("0.3",)),
        ("status", False, ("0.3",)),
    ],
)
async def test_a_reply_carries_its_usage_by_every_way(
    recorder: TraceRecorder, transport: str, streaming: bool, protocols: tuple[str, ...]
) -> None:
    [step] = await steps_with(
        recorder,
        "hello",
        reply_transport=transport,
        streaming=streaming,
        protocols=protocols,
        metadata=USAGE,
        update_metadata=None if transport == "message" else {},
    )
    assert (step.total_tokens, step.cost) == (120, 0.25)
    assert step.additional_attributes[REPORTED_USAGE] == "prompt_tokens"
    assert step.additional_attributes[REPORTED_PROMPT_TOKENS] == "90"
    assert step.additional_attributes[REPORTED_COMPLETION_TOKENS] == "30"
    assert REPORTED_USAGE_IGNORED not in step.additional_attributes


@pytest.mark.parametrize("streaming", [True, False])
async def test_the_update_that_ends_a_task_may_carry_it(
    recorder: TraceRecorder, streaming: bool
) -> None:
    [step] = await steps_with(recorder, "hello", streaming=streaming, update_metadata=USAGE)
    assert (step.total_tokens, step.cost) == (120, 0.25)


async def test_every_message_of_a_task_that_waits_for_input_counts_once(
    recorder: TraceRecorder,
) -> None:
    steps = await steps_with(
        recorder, "one", "two", "three", state="input_required", streaming=False, metadata=USAGE
    )
    assert [step.total_tokens for step in steps] == [120, 120, 120]


async def test_an_agent_that_fails_has_used_what_it_reports(recorder: TraceRecorder) -> None:
    [step] = await steps_with(recorder, "hello", state="failed", metadata=USAGE, fails=True)
    assert step.error is not None
    assert (step.total_tokens, step.cost) == (120, 0.25)


async def test_an_agent_that_reports_nothing_leaves_the_step_without(
    recorder: TraceRecorder,
) -> None:
    [step] = await steps_with(recorder, "hello", metadata={"cost": 49.99})
    assert (step.total_tokens, step.cost) == (None, None)
    assert REPORTED_USAGE not in step.additional_attributes


async def test_values_that_cannot_be_are_counted_and_nothing_else(recorder: TraceRecorder) -> None:
    lies = {"usage": {"prompt_tokens": -5, "completion_tokens": 1e300, "cost": "free"}}
    [step] = await steps_with(recorder, "hello", metadata=lies)
    assert (step.total_tokens, step.cost) == (None, None)
    assert step.additional_attributes[REPORTED_USAGE_IGNORED] == "3"
    assert step.response_text == "heard hello"


@pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*:UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_an_agent_of_google_adk_reports_each_call_of_its_model(
    recorder: TraceRecorder, messenger: Messenger
) -> None:
    def look_up(order: str) -> str:
        """Look an order up."""
        return f"{order} is on its way"

    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=90, candidates_token_count=30, total_token_count=120
    )
    model = ScriptedModel(
        answers=["hello", {"tool": "look_up", "args": {"order": "W1"}}, "It is on its way."],
        usage=usage,
    )
    agent = LlmAgent(name="shop", model=model, tools=[look_up])
    with serve(to_a2a(agent)) as url:
        conversation = messenger.conversation(url, recorder=recorder)
        await conversation.send("hello")
        reply = await conversation.send("Where is my order W1?")
    assert reply.text == "It is on its way."
    first, second = recorder.trace().steps
    assert first.total_tokens == 120
    assert second.total_tokens == 2 * 120
    assert second.additional_attributes[REPORTED_USAGE] == "prompt_token_count"


async def test_a_history_that_grows_over_several_tasks_counts_each_message_once(
    recorder: TraceRecorder,
) -> None:
    said: list[dict[str, Any]] = []

    async def answer(request: Request) -> JSONResponse:
        asked = await request.json()
        number = len(said) + 1
        made = {
            "messageId": f"m{number}",
            "role": "ROLE_AGENT",
            "parts": [{"text": "hi"}],
            "metadata": {"usage": {"total_tokens": 100 * number}},
        }
        status = {"state": "TASK_STATE_COMPLETED", "message": made}
        task = {"id": f"t{number}", "contextId": "c", "status": status, "history": list(said)}
        said.append(made)
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": {"task": task}})

    messenger = Messenger(apps={URL: raw_agent(answer, streaming=False)})
    conversation = messenger.conversation(URL, recorder=recorder)
    for text in "abcd":
        await conversation.send(text)
    await messenger.aclose()
    assert [step.total_tokens for step in recorder.trace().steps] == [100, 200, 300, 400]
