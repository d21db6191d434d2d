"""The official engine itself beside ours; needs TAU2_PYTHON and TAU2_DATA_DIR."""

import os
from pathlib import Path

import pytest

from evals.outcome import Scored
from tau_bridge.tau2.benchmark import Tau2Benchmark
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.engine.engine import OfficialEngine
from tests.tau_bridge.tau2.engine.conftest import Agent, call

# Read here, because single tests run without the settings of the machine.
PYTHON, FOLDER = os.environ.get("TAU2_PYTHON"), os.environ.get("TAU2_DATA_DIR")
TASKS = 3
"""Of each domain; more with GREENROOM_ENGINE_TASKS."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(not PYTHON, reason="TAU2_PYTHON is not set"),
    pytest.mark.skipif(not FOLDER, reason="TAU2_DATA_DIR is not set"),
]


@pytest.fixture(scope="module")
def engines():
    """The benchmark with our own engine, and with the official one."""
    engine = OfficialEngine(PYTHON, Path(FOLDER))
    own = Tau2Benchmark(open_source(Path(FOLDER)), engine)
    yield own, own.with_options({"engine": "official"})
    engine.release()


def values(result):
    return {
        each.name: each.outcome.value if isinstance(each.outcome, Scored) else each.outcome.status
        for each in result.components
    }


@pytest.mark.parametrize("solo", [False, True])
@pytest.mark.parametrize("name", ["ceiling", "floor"])
@pytest.mark.parametrize("domain", ["airline", "retail", "telecom", "mock"])
async def test_both_engines_give_the_same_components(engines, domain, name, solo):
    own, official = (each.with_options({**each.chosen_options(), "solo": solo}) for each in engines)
    if own.unsupported(domain):
        pytest.skip("its tasks need a user")
    ids = own.task_ids(domain)
    every = max(1, len(ids) // int(os.environ.get("GREENROOM_ENGINE_TASKS", TASKS)))
    for task_id in ids[::every]:
        ref = own.ref(domain, task_id)
        if own.unplayable(ref) is None:
            ours, theirs = [
                await each.reference(ref, name, seed=1, max_steps=200) for each in (own, official)
            ]
            if theirs.premature_end is None:
                assert values(theirs) == values(ours), ref
            assert (theirs.basis, theirs.premature_end) == (ours.basis, ours.premature_end), ref


@pytest.mark.parametrize("retrieval", ["no_knowledge", "bm25_grep"])
async def test_gold_actions_of_a_bank_pass_and_doing_nothing_does_not(engines, retrieval):
    _, official = engines
    ref = official.ref("banking_knowledge", "task_001")
    for name, expected in (("ceiling", 1.0), ("floor", 0.0)):
        result = await official.engine.reference(
            ref,
            official.source.task(ref.domain, ref.id),
            gold=name == "ceiling",
            solo=False,
            seed=1,
            max_steps=200,
            retrieval=retrieval,
        )
        assert values(result)["DB"] == expected


async def test_a_telecom_user_follows_the_other_policy_with_the_same_tools(engines):
    _, official = engines
    ref = official.ref("telecom-workflow", official.task_ids("telecom-workflow")[0])
    assert set(
        values(await official.reference(ref, "ceiling", seed=1, max_steps=200)).values()
    ) == {1.0}


async def test_an_agent_is_told_the_engines_policy_and_tools(engines, play):
    _, official = engines
    agent = Agent(call("get_users"))
    played, trace = await play(official, agent, task="create_task_1", max_steps=6)
    assert played.termination == "max_steps"
    assert '"name": "create_task"' in agent.heard[0]
    assert {each.callee for each in trace.steps} == {"get_users"}
    result = await official.score(official.ref("mock", "create_task_1"), played, None)
    assert result.premature_end == "max_steps"
