import pytest

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.play.evaluators import trace_evaluators


@pytest.fixture
def make_conversation(tmp_path, benchmarks):
    """What answers are made from, over the results of the test."""

    def make(**changes):
        fields = {
            "results_dir": tmp_path / "results",
            "benchmarks": lambda: benchmarks,
            "evaluators": trace_evaluators,
            "confirm_above": 200,
        }
        return ConversationDeps(**{**fields, **changes})

    return make


@pytest.fixture
def conversation(make_conversation):
    return make_conversation()
