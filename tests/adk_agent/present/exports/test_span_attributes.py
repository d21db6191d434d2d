"""What spans say of steps, by the names of the conventions."""

import json

import pytest

from evals.trace import CallType
from tests.adk_agent.present.exports.spans import attributes, spans_in

from .conftest import trial


def test_spans_say_what_the_conventions_ask_for(played, lines):
    spans = [attributes(span) for span in spans_in(lines[0])[1:]]
    agent, tool = spans[0], next(s for s in spans if s["openinference.span.kind"] == "TOOL")
    assert agent["gen_ai.agent.name"] == agent["graph.node.id"] == played.url
    assert (agent["graph.node.parent_id"], agent["openinference.span.kind"]) == (
        "green-agent",
        "AGENT",
    )
    assert (tool["gen_ai.operation.name"], tool["gen_ai.tool.name"]) == (
        "execute_tool",
        "create_task",
    )
    assert json.loads(tool["gen_ai.tool.call.arguments"])["user_id"] == "user_1"
    assert tool["graph.node.parent_id"] == played.url


def test_every_name_of_a_convention_is_one_that_opentelemetry_knows(stored, exported):
    known = pytest.importorskip("opentelemetry.semconv._incubating.attributes.gen_ai_attributes")
    names = {value for name, value in vars(known).items() if name.startswith("GEN_AI_")}
    model = {"step_id": "2", "call_type": CallType.TOOL, "name": "completion", "callee": "gpt"}
    tool = {"step_id": "3", "call_type": CallType.TOOL, "name": "look", "callee": "look"}
    [text] = exported(stored(trial(steps=({}, model, tool))), "otlp").values()
    spans = spans_in(text)
    used = {key for span in spans for key in attributes(span)}
    used |= {key for span in spans for event in span.get("events", ()) for key in attributes(event)}
    assert {name for name in used if name.startswith("gen_ai.")} <= names


def test_a_models_call_is_chat_with_its_tokens_and_cost(stored, exported):
    model = {
        "call_type": CallType.TOOL,
        "name": "completion",
        "caller": "user",
        "callee": "gpt-4o-mini",
        "total_tokens": 7,
        "cost": 0.25,
    }
    [text] = exported(stored(trial(steps=(model,))), "otlp").values()
    span = spans_in(text)[1]
    found = attributes(span)
    assert (span["name"], found["openinference.span.kind"]) == ("chat gpt-4o-mini", "LLM")
    assert (found["llm.token_count.total"], found["llm.cost.total"]) == ("7", 0.25)
    assert found["gen_ai.request.model"] == "gpt-4o-mini"
