import pytest

from adk_agent.core.plan import Overrides
from adk_agent.workflow.agents import WorkflowDeps
from adk_agent.workflow.sequence import build_root_agent
from adk_agent.workflow.session import WorkflowPipeline


@pytest.fixture
def deps(make_deps):
    """What the workflow needs; without a model, the agents go by rules."""

    def make(selector=None, interpreter=None, **changes):
        return WorkflowDeps(
            evaluation=make_deps(),
            selector_model=selector,
            interpreter_model=interpreter,
            author="rules" if interpreter is None else "llm:tiny",
            **changes,
        )

    return make


@pytest.fixture
def pipeline(deps):
    def make(selector=None, interpreter=None):
        return WorkflowPipeline(
            lambda on_report: build_root_agent(deps(selector, interpreter, on_report=on_report))
        )

    return make


@pytest.fixture
def ask():
    """Has a pipeline evaluate a request; gives the outcome and the progress that was told."""

    async def run(pipeline, text, **overrides):
        seen = []

        outcome = await pipeline.run_request(
            text, overrides=Overrides(**overrides), on_progress=seen.append
        )
        return outcome, seen

    return run


@pytest.fixture
def markdown(make_deps):
    """What stands in the `report.md` of the only run."""
    return (make_deps().results_dir / "run-1" / "report.md").read_text
