"""WorkflowPipeline: one evaluation through ADK's agents, from this process's point of view."""

import pytest

from adk_agent.results.progress import silent
from adk_agent.runs import store
from adk_agent.runs.store import load_report
from adk_agent.workflow.sequence import build_root_agent
from adk_agent.workflow.session import WorkflowPipeline
from tests.fakes.adk_model import ScriptedModel

pytestmark = pytest.mark.usefixtures("quick_start")

SENTENCE = "Evaluate the bundled null agent on two mock tasks"


async def test_the_report_comes_back_as_it_was_made_and_is_not_read_from_disk(
    pipeline, ask, make_deps, monkeypatch
):
    def refuse(*_, **__):
        raise AssertionError("a report was read back")

    monkeypatch.setattr(store, "read_kept", refuse)
    prose = ScriptedModel(answer="It passed 0 of 2 trials.")
    outcome, _ = await ask(pipeline(interpreter=prose), SENTENCE)
    monkeypatch.undo()
    assert outcome.report == load_report(make_deps().results_dir, "run-1")


async def test_a_plan_that_stands_is_played_as_it_is_and_nothing_is_read(
    deps, make_plan, make_deps
):
    built = []

    def build(on_report):
        failing = ScriptedModel(answer=None)
        built.append(build_root_agent(deps(selector=failing, on_report=on_report)))
        return built[0]

    plan = make_plan("builtin:null")
    pipeline = WorkflowPipeline(build)
    outcome = await pipeline.run_plan(plan, request="again, please", on_progress=silent)
    assert outcome.problem is None
    assert (outcome.report.plan, outcome.report.request) == (plan, "again, please")
    assert [agent.name for agent in built[0].sub_agents] == [
        "TaskSelector",
        "EvaluationRunner",
        "ResultsInterpreter",
    ]


async def test_a_plan_is_given_for_one_request_of_a_session_only(deps, make_plan):
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from adk_agent.workflow import state

    runner = InMemoryRunner(agent=build_root_agent(deps()), app_name="app")
    place = {"app_name": "app", "user_id": "u"}
    given = {state.GIVEN_PLAN: make_plan("builtin:null").model_dump_json()}
    session = await runner.session_service.create_session(**place, state=given)

    async def say(text):
        message = types.Content(role="user", parts=[types.Part(text=text)])
        events = runner.run_async(user_id="u", session_id=session.id, new_message=message)
        async for _ in events:
            pass
        return (await runner.session_service.get_session(**place, session_id=session.id)).state

    assert state.plan(await say("as planned")).total_trials == 1
    assert state.plan(await say("Hello")) is None
