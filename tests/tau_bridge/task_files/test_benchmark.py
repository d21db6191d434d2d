"""Scores of task files: all or nothing, by weight, and with a judge."""

import pytest

from evals.reward import reward_of
from tau_bridge.benchmark import CEILING, FLOOR, PlayContext
from tau_bridge.clock import Runtime
from tau_bridge.recorder import TraceRecorder
from tau_bridge.task_files.benchmark import TaskFileBenchmark
from tests.tau_bridge.test_tool_dialogue import Says

WEIGHTED = """
    tasks:
      - id: weighted
        prompt: x
        expect:
          - {contains: one, weight: 3}
          - {contains: two}
        gold: {answer: one two}
      - id: halves
        prompt: x
        expect: [{contains: one, weight: 1}, {contains: two, weight: 1}]
      - id: judged
        prompt: x
        expect: [{contains: one}, {judge: is polite}]
      - id: plain
        prompt: x
        expect: [{contains: one}, {contains: two}]
"""


class Polite:
    """A judge that believes everything that it is asked."""

    produced_by = "llm:test"

    def __init__(self, verdict=True):
        self.verdict = verdict
        self.asked = []

    async def __call__(self, statements, transcript):
        self.asked.append((statements, transcript))
        return dict.fromkeys(statements, self.verdict)


@pytest.fixture
def score(write):
    """Plays a task with an agent that says one thing; returns its reward."""
    benchmark, _ = TaskFileBenchmark().with_file(write(WEIGHTED))

    async def scored(task, says, judge=None):
        runtime = Runtime.system()
        context = PlayContext(
            seed=1,
            max_steps=20,
            clock=runtime.clock,
            recorder=TraceRecorder("t", runtime=runtime),
            address="http://agent.test/",
            team=None,
        )
        ref = benchmark.ref("returns", task)
        played = await benchmark.play(ref, Says(says), context)
        return reward_of(await benchmark.score(ref, played, judge))

    scored.benchmark = benchmark
    return scored


@pytest.mark.parametrize(
    ("task", "says", "reward"),
    [
        ("plain", "one two", 1), ("plain", "one", 0),
        ("weighted", "one two", 1), ("weighted", "one", 0.75), ("weighted", "zero", 0),
        ("halves", "one", 0.5),
    ],
)  # fmt: skip
async def test_all_checks_have_to_hold_or_count_by_weight(score, task, says, reward):
    assert (await score(task, says)).value == reward


@pytest.mark.parametrize("says", ["one", "zero"])
async def test_without_a_judge_a_statement_leaves_it_unscored_whatever_else_holds(score, says):
    outcome = await score("judged", says)
    assert outcome.status == "unscored"
    assert "no language model judged it" in outcome.reason


@pytest.mark.parametrize(("verdict", "reward"), [(True, 1), (False, 0)])
async def test_a_judge_reads_the_conversation_and_is_named(score, verdict, reward):
    judge = Polite(verdict)
    outcome = await score("judged", "one, please", judge)
    assert (outcome.value, outcome.produced_by) == (reward, "llm:test")
    [(statements, transcript)] = judge.asked
    assert statements == ("is polite",)
    assert transcript == "user: x\nassistant: one, please"


async def test_references_are_played_where_there_is_gold(score):
    benchmark = score.benchmark

    async def reward(task, name):
        ref = benchmark.ref("returns", task)
        result = await benchmark.reference(ref, name, seed=1, max_steps=20)
        return result and reward_of(result).value

    assert (await reward("weighted", FLOOR), await reward("weighted", CEILING)) == (0, 1)
    assert await reward("plain", CEILING) is None
    assert benchmark.domains()[0].needs == {"judge"}
