"""A prototype: what it would take to chain the agents by ADK's `Workflow`.

Only what `adk_agent/workflow/sequence.py` says is said otherwise here; docs/decisions/0001.
"""

import pytest
from google.adk.workflow import START, Workflow

from adk_agent.results.markdown import explained
from adk_agent.workflow.agents import NAME, build_agents
from adk_agent.workflow.session import WorkflowPipeline
from tests.fakes.adk_model import ScriptedModel

pytestmark = [pytest.mark.prototype, pytest.mark.usefixtures("quick_start")]

SENTENCE = "Evaluate the bundled null agent on two mock tasks"


def build_root_agent(deps):
    """In place of the function of this name in `sequence.py`."""
    return Workflow(name=NAME, edges=[(START, *build_agents(deps))])


@pytest.fixture
def prototype(deps):
    def make(**models):
        return WorkflowPipeline(
            lambda on_report: build_root_agent(deps(**models, on_report=on_report))
        )

    return make


async def test_a_workflow_chains_the_same_agents(prototype, ask, markdown):
    outcome, seen = await ask(prototype(), SENTENCE)
    assert outcome.problem is None
    assert outcome.report.plan.total_trials == 2
    assert markdown() == explained(outcome.report)
    assert (seen[-1].stage, seen[-1].done, seen[-1].total) == ("finished", 2, 2)


async def test_a_workflows_models_read_and_word(prototype, ask, markdown):
    prose = ScriptedModel(answer="It passed 0 of 2 trials.")
    outcome, _ = await ask(prototype(interpreter=prose), SENTENCE)
    assert outcome.interpretation == "It passed 0 of 2 trials."
    assert "_Interpretation by llm:tiny._" in markdown()


async def test_a_workflow_refuses_what_cannot_be_read(prototype, ask):
    outcome, seen = await ask(prototype(), "Hola, ¿qué tal?")
    assert (outcome.run_id, outcome.report, seen) == (None, None, [])
