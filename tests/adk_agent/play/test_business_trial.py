"""Business scenarios played over A2A, with their tools over HTTP."""

import json

import pytest

from adk_agent.core.errors import PreflightError
from adk_agent.play.evaluation import evaluate, resume
from adk_agent.runs.store import TRIALS, load_trials
from evals.trace import CallType
from tau_bridge.business.benchmark import TOOLS
from tau_bridge.business.scenarios import scenarios
from tau_bridge.business.world import UNAVAILABLE
from tests.fakes import scripted_agent, serve
from tests.fakes.gold_player import GoldPlayer

pytestmark = pytest.mark.usefixtures("quick_start")

RENAMED = next(each for each in scenarios() if each.endswith("invoice_renamed_parameters"))
TWO_TURNS = next(each for each in scenarios() if each.endswith("purchase_pending_then_granted"))
FLAKY = next(each for each in scenarios() if each.endswith("incident_flaky_service"))
ALLOWED = next(each for each in scenarios() if each.endswith("expense_taxi"))


@pytest.fixture(scope="module")
def gold():
    player = GoldPlayer()
    with serve(player.app()) as url:
        yield player, url


@pytest.fixture
def play(make_plan, make_deps):
    """Plays scenarios, all of them unless named, and gives the report and the records."""

    async def play(*addresses, task_ids=None, **changes):
        deps = make_deps(**changes)
        ids = tuple(scenarios()) if task_ids is None else task_ids
        plan = make_plan(*addresses, domain="business", task_ids=ids, max_concurrency=8)
        report = await evaluate(plan, deps, request="")
        return report, load_trials(deps.results_dir, "run-1")

    return play


async def test_the_gold_way_passes_every_scenario(play, gold):
    _, url = gold
    report, _ = await play(url)
    assert [row.task_id for row in report.trials if row.reward == 1.0] == list(scenarios())
    [efficiency] = report.headlines
    assert (efficiency.name, efficiency.value, efficiency.tasks) == ("tool efficiency", 1.0, 58)
    assert report.status == "complete"
    assert not any("scripted" in warning for warning in report.warnings)


async def test_the_null_agent_passes_none_of_the_first_ten(play):
    report, _ = await play("builtin:null", task_ids=list(scenarios())[:10])
    assert [row.reward for row in report.trials] == [0.0] * 10


async def test_a_trial_tells_what_was_said_and_called(play, gold):
    _, url = gold
    _, [record] = await play(url, task_ids=[TWO_TURNS])
    row = record.row
    assert row.basis == ("STATE", "POLICY", "COMMUNICATE")
    assert (row.termination, row.user, row.turns, row.tool_calls) == ("user_stop", "scripted", 2, 5)
    roles = [message["role"] for message in record.messages]
    assert roles == [
        *["user", *(["assistant", "tool"] * 3), "assistant"],
        *["user", *(["assistant", "tool"] * 2), "assistant"],
    ]
    calls = record.trace.of_type(CallType.TOOL)
    assert {(step.caller, step.callee) for step in calls} == {(url, TOOLS)}
    assert [step.name for step in calls] == [
        *["get_purchase_request", "get_vendor", "request_approval"],
        *["get_approval", "create_purchase_order"],
    ]
    turns = [step.step_id for step in record.trace.of_type(CallType.AGENT)]
    assert [turns.index(step.parent_step_id) for step in calls] == [0, 0, 0, 1, 1]


async def test_a_call_that_a_tool_refused_is_told_with_its_error(play, gold):
    _, url = gold
    _, [record] = await play(url, task_ids=[FLAKY])
    first, second, *_ = [each for each in record.messages if each["role"] == "tool"]
    assert (first["content"], first["error"]) == (UNAVAILABLE, True)
    assert second["error"] is False
    assert json.loads(second["content"])["incident_id"]


async def test_the_first_message_tells_policy_and_tools_and_each_trial_has_its_own_session(
    play, gold
):
    player, url = gold
    player.metadata.clear()
    await play(url, task_ids=[RENAMED, TWO_TURNS])
    assert all(
        each.keys() == {"policy_doc", "tools_endpoint", "session_id"} for each in player.metadata
    )
    assert len({each["session_id"] for each in player.metadata}) == 2
    assert len({each["tools_endpoint"] for each in player.metadata}) == 1


async def test_an_agent_that_says_it_is_done_and_calls_nothing_does_not_pass(play):
    def answer(text, context_id):
        return "EXP-2101 is approved, completed."

    with serve(scripted_agent(answer)) as url:
        report, _ = await play(url, task_ids=[ALLOWED])
    [row] = report.trials
    assert row.reward_breakdown == {
        "STATE": 0.0,
        "POLICY": 1.0,
        "COMMUNICATE": 1.0,
        "TOOL_EFFICIENCY": None,
    }
    assert row.reward == 0.0


async def test_an_agent_on_another_machine_is_refused_before_anything_is_played(play):
    with pytest.raises(PreflightError, match=r"http://192\.0\.2\.7:9010.*another machine"):
        await play("http://192.0.2.7:9010", task_ids=[ALLOWED])


async def test_a_run_of_scenarios_goes_on_where_it_stopped(play, gold, make_deps):
    _, url = gold
    ids = list(scenarios())[:3]
    deps = make_deps()
    await play(url, task_ids=ids)
    trials = deps.results_dir / "run-1" / TRIALS
    first, *_ = trials.read_text().splitlines(keepends=True)
    trials.write_text(first)
    report = await resume("run-1", deps)
    assert [(row.task_id, row.reward) for row in report.trials] == [(each, 1.0) for each in ids]


async def test_an_agent_that_fails_its_task_is_scored_0(play):
    with serve(scripted_agent(lambda text, context: "no", state="failed")) as url:
        report, _ = await play(url, task_ids=[ALLOWED])
    [row] = report.trials
    assert (row.reward, row.fault, row.termination) == (0.0, "agent", "agent_error")
    assert row.reason.startswith("no (")
