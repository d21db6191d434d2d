import pytest

from adk_agent.assembly import Assembly
from adk_agent.conversation.pipeline import RulesPipeline
from adk_agent.core.plan import Overrides
from adk_agent.core.settings import Settings
from adk_agent.requests.lookup import LookupTools
from adk_agent.workflow.agents import WorkflowDeps
from adk_agent.workflow.sequence import build_root_agent
from adk_agent.workflow.session import WorkflowPipeline


@pytest.fixture
def deps(make_deps, benchmarks):
    """What the workflow needs; without a model, the agents go by rules."""

    def make(selector=None, interpreter=None, *, evaluation=None, **changes):
        evaluation = evaluation or make_deps()
        assembly = Assembly(
            settings=Settings.load(results_dir=evaluation.results_dir), benchmarks=benchmarks
        )
        lookup = LookupTools(
            catalogue=lambda: evaluation.benchmarks,
            results_dir=evaluation.results_dir,
            new_messenger=evaluation.new_messenger,
        )
        conversation = assembly.conversation_deps(lambda: evaluation.benchmarks)
        rules = RulesPipeline(
            deps=evaluation, conversation=conversation, registered=lookup.registered
        )
        fields = {
            "evaluation": evaluation,
            "conversation": conversation,
            "read_by_rules": rules.read,
            "selector_model": selector,
            "interpreter_model": interpreter,
            "author": "rules" if selector is None and interpreter is None else "llm:tiny",
        }
        return WorkflowDeps(**{**fields, **changes})

    return make


@pytest.fixture
def pipeline(deps):
    def make(selector=None, interpreter=None, **changes):
        return WorkflowPipeline(
            lambda on_report: build_root_agent(
                deps(selector, interpreter, on_report=on_report, **changes)
            )
        )

    return make


@pytest.fixture
def ask():
    """Has a pipeline do what a message wants; gives the outcome and the progress that was told."""

    async def run(pipeline, text, situation=None, **overrides):
        seen = []
        outcome = await pipeline.run_request(
            text, situation=situation, overrides=Overrides(**overrides), on_progress=seen.append
        )
        return outcome, seen

    return run


@pytest.fixture
def markdown(make_deps):
    """What stands in the `report.md` of the only run."""
    return (make_deps().results_dir / "run-1" / "report.md").read_text
