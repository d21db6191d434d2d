"""Business scenarios played over A2A, with their tools over HTTP."""

import json
import socket

import httpx
import pytest

from adk_agent.cli.main import main
from adk_agent.core.errors import PreflightError, RequestError
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import evaluate, resume
from adk_agent.play.tools import served_tools
from adk_agent.requests.planning import resolve
from adk_agent.requests.reading.refusal import Refusal
from adk_agent.runs.store import TRIALS, load_trials
from evals.trace import CallType
from tau_bridge.business.benchmark import TOOLS
from tau_bridge.business.scenarios import scenarios
from tau_bridge.business.testing import GoldPlayer
from tau_bridge.testing import scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")

RENAMED = next(each for each in scenarios() if each.endswith("invoice_renamed_parameters"))
TWO_TURNS = next(each for each in scenarios() if each.endswith("purchase_pending_then_granted"))
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
    assert row.reward_breakdown == {"STATE": 0.0, "POLICY": 1.0, "COMMUNICATE": 1.0}
    assert row.reward == 0.0


async def test_an_agent_on_another_machine_is_refused_before_anything_is_played(play):
    with pytest.raises(PreflightError, match=r"http://192\.0\.2\.7:9010.*another machine"):
        await play("http://192.0.2.7:9010", task_ids=[ALLOWED])


async def test_tools_are_served_where_an_agent_on_another_machine_is_told_to_find_them():
    elsewhere = {"http://192.0.2.7:9010": "http://192.0.2.7:9010"}
    async with (
        served_tools("http://assessor.example", elsewhere) as tools,
        httpx.AsyncClient() as client,
    ):
        host, _, port = tools.endpoint.rpartition(":")
        url = f"http://127.0.0.1:{port}/mcp/tools"
        answer = await client.get(url, params={"session_id": "guess"})
    assert (host, answer.status_code) == ("http://assessor.example", 404)


async def test_tools_whose_port_is_taken_are_refused_before_anything_is_played():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(PreflightError, match=f"cannot be served at {url}"):
            async with served_tools(url, {}):
                pytest.fail("served")


def test_an_address_of_tools_that_is_none_is_refused():
    for url in ("assessor:9020", "https://assessor", "http://a/b", "http://u@a", "http://"):
        with pytest.raises(RequestError, match="tools_url"):
            Settings.load(tools_url=url)


@pytest.mark.parametrize("domain", ["business", ["mock", "business"], "coordination"])
def test_action_only_scoring_is_refused_where_tasks_name_no_actions(read, benchmarks, domain):
    config = {"domain": domain, "evaluation_type": "action"}
    request = read(
        json.dumps({"participants": {"agent": "http://localhost:9010"}, "config": config})
    )
    with pytest.raises(RequestError, match=r"'(business|coordination)' has no action-only scoring"):
        resolve(request, benchmarks)


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


def test_scenarios_are_listed(capsys):
    assert main(["list", "tasks", "--domain", "business", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["task"] for row in rows] == list(scenarios())
    assert {row["basis"] for row in rows} == {"[STATE, POLICY, COMMUNICATE]"}


@pytest.mark.parametrize(
    ("asked", "selected"),
    [
        ("on ten business tasks", [("business", 10, None)]),
        ("on all business-process scenarios", [("business", None, None)]),
        ("on two airline and three business tasks", [("airline", 2, None), ("business", 3, None)]),
        (f"on business task {ALLOWED}", [("business", None, (ALLOWED,))]),
        (f"on {ALLOWED.partition('_')[0]}", [("business", None, (ALLOWED,))]),
        ("on five retail tasks for business reasons", [("retail", 5, None)]),
        ("on five retail tasks, our business needs it", [("retail", 5, None)]),
    ],
)
def test_a_sentence_means_the_domain_only_where_it_says_so(read, asked, selected):
    request = read(f"Evaluate http://localhost:9010 {asked}")
    assert [(each.domain, each.num_tasks, each.task_ids) for each in request.selections] == selected


def test_a_scenario_that_does_not_exist_is_refused(read):
    with pytest.raises(Refusal, match="no scenario 'bp99'"):
        read("Evaluate http://localhost:9010 on bp99")


@pytest.mark.parametrize(
    ("config", "roles"),
    [
        ({"domain": "business", "num_tasks": 2}, ["agent"]),
        ({"domain": "business", "references": True}, ["agent", "floor"]),
    ],
)
def test_agentbeats_json_may_name_the_domain(read, benchmarks, config, roles):
    record = {"participants": {"agent": "http://localhost:9010"}, "config": config}
    request = read(json.dumps(record))
    assert [each.domain for each in request.selections] == ["business"]
    assert [each.role for each in resolve(request, benchmarks).participants] == roles
