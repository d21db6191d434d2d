"""Whole requests through the workflow."""

from pathlib import Path

import pytest
from google.adk.agents import LlmAgent, SequentialAgent

from adk_agent.runs.store import load_report
from adk_agent.workflow import state
from adk_agent.workflow.runner import EvaluationRunner
from adk_agent.workflow.sequence import build_root_agent
from adk_agent.workflow.session import APP_NAME

pytestmark = pytest.mark.usefixtures("quick_start")

REPOSITORY = Path(__file__).parents[3]
SENTENCE = "Evaluate the bundled null agent on two mock tasks"


def report_of(make_deps):
    return load_report(make_deps().results_dir, "run-1")


@pytest.mark.requirement("shape:workflow")
def test_the_workflow_chains_selector_runner_and_interpreter(deps):
    root = build_root_agent(deps())
    assert isinstance(root, SequentialAgent)
    selector, runner, interpreter = root.sub_agents
    assert (selector.name, interpreter.name) == ("TaskSelector", "ResultsInterpreter")
    assert isinstance(selector, LlmAgent)
    assert isinstance(interpreter, LlmAgent)
    assert isinstance(runner, EvaluationRunner)


@pytest.mark.requirement("shape:ways-in")
def test_adks_own_commands_find_the_agent():
    from google.adk.cli.utils.agent_loader import AgentLoader

    loader = AgentLoader(str(REPOSITORY / "adk_agent"))
    assert loader.list_agents() == ["adk_agent"]
    assert loader.load_agent("adk_agent").name == "greenroom"


@pytest.mark.requirement("adk:selector")
@pytest.mark.requirement("adk:interpreter")
@pytest.mark.requirement("shape:ways-in")
async def test_a_sentence_becomes_a_report_and_prose(pipeline, ask, markdown, make_deps):
    result, seen = await ask(pipeline(), SENTENCE)
    assert result.problem is None
    assert result.run_id == "run-1"
    assert "builtin:null in mock: 0 of 2 scored trials passed" in markdown()
    for heading in ("## Summary", "## Key findings", "## Recommendations"):
        assert heading in markdown()
    assert result.interpretation in markdown()
    assert [progress.stage for progress in seen][0::3] == ["preparing", "playing"]
    assert (seen[-1].stage, seen[-1].done, seen[-1].total) == ("finished", 2, 2)
    assert report_of(make_deps).request == SENTENCE


async def test_a_second_request_in_a_session_forgets_the_first(deps):
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    runner = InMemoryRunner(agent=build_root_agent(deps()), app_name=APP_NAME)
    session = await runner.session_service.create_session(app_name=APP_NAME, user_id="u")

    async def say(text):
        content = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=content):
            pass
        got = await runner.session_service.get_session(
            app_name=APP_NAME, user_id="u", session_id=session.id
        )
        return got.state

    first = await say(SENTENCE)
    assert first[state.DIGEST] is not None
    second = await say("Hello")
    assert second[state.DIGEST] is None
    assert second[state.RUN_ID] is None
    assert "Hello" not in (first[state.INTERPRETATION], second[state.INTERPRETATION])
    assert second[state.INTERPRETATION] != first[state.INTERPRETATION]
