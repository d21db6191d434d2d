import pytest

from adk_agent.conversation.answering import answer
from adk_agent.conversation.deps import ConversationDeps
from adk_agent.play.evaluation import evaluate
from adk_agent.play.evaluators import trace_evaluators
from adk_agent.requests.intent import Situation


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


@pytest.fixture
def played(make_deps, make_plan, quick_start):
    """Plays a plan and returns its run's id."""

    async def play(run_id, *addresses, request="Evaluate it", **changes):
        report = await evaluate(
            make_plan(*addresses, **changes), make_deps(), request=request, run_id=run_id
        )
        return report.run_id

    return play


@pytest.fixture
def ask(make_conversation):
    """Answers an intent, in the conversation about some runs."""

    async def reply(intent, *run_ids, text="so said", confirmed=False, situation=None, **changes):
        known = situation or Situation(run_ids=run_ids)
        deps = make_conversation(**changes)
        return await answer(intent, text, known, deps, confirmed=confirmed)

    return reply
