"""Openings in a model's words, in a whole conversation of a task."""

import json

import pytest

from tau_bridge.benchmark import PlayContext, UserModel
from tau_bridge.benchmarks import open_benchmarks
from tau_bridge.chaos.injector import Injector
from tau_bridge.completion import CompletionResult
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.rewording import PROMPT
from tests.fakes.runtime import manual_runtime
from tests.tau_bridge.tau2.shelf import Wire

pytestmark = pytest.mark.requirement("test:chaos")
OPENING = "Please create a task called 'Important Meeting' for user_1."


@pytest.mark.parametrize(
    ("offered", "heard", "by"),
    [
        (
            "I need 'Important Meeting' for user_2.",
            OPENING,
            "rules, as llm:test/m lost, added or moved",
        ),
        ("Could you make a task 'Important Meeting' for user_1?", "Could you make", "llm:test/m"),
    ],
)
async def test_the_agent_hears_the_models_words_where_they_hold_what_the_user_said(
    offered, heard, by
):
    async def complete(messages, *, tools=()):
        if messages[0]["content"] == PROMPT:
            said = offered
        else:
            talked = any(each["role"] == "assistant" for each in messages)
            said = "###STOP###" if talked else OPENING
        return CompletionResult(content=said, model="m")

    benchmarks = open_benchmarks(lambda _: {})
    benchmark = benchmarks.of("mock")
    wire = Wire(json.dumps({"name": "respond", "arguments": {"content": "Done."}}))
    runtime = manual_runtime()
    faults = Injector("mock/1", seed=1, rates={"prompt": 1.0})
    context = PlayContext(
        seed=1,
        max_steps=20,
        clock=runtime.clock,
        recorder=TraceRecorder("t", runtime=runtime),
        address="agent",
        team=None,
        user_model=UserModel(name="test/m", completion=complete),
        faults=faults,
    )
    played = await benchmark.play(benchmark.ref("mock", "create_task_1"), wire, context)
    assert played.error is None
    [fault] = faults.faults
    assert fault.produced_by.startswith(by)
    said = next(each["content"] for each in played.messages if each["role"] == "user")
    assert said == fault.detail
    assert heard in said
    assert said in wire.sent[0]
