"""Teams assessed from the outside: bundled ones, and several remote participants as one."""

import itertools
import json
import logging
import re
from pathlib import Path

import httpx
import pytest
from a2a.client import ClientConfig, create_client
from a2a.helpers import get_artifact_text, get_message_text, new_text_message
from a2a.types import Role, SendMessageRequest

from adk_agent.core.errors import PreflightError
from adk_agent.core.plan import PlannedTasks
from adk_agent.play.evaluation import evaluate
from adk_agent.requests.planning import resolve
from adk_agent.runs.store import load_trials
from evals.driver import EvaluatorRegistry
from evals.graph import schedule
from evals.graph.evaluator import GraphEvaluator
from tau_bridge.teams import teams
from tests.fakes import closed_port, scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")

REPOSITORY = Path(__file__).parents[3]
EXERCISE = "ex01_return_with_fee"
GROUND_TRUTH = json.loads((REPOSITORY / "data/ground_truth.json").read_bytes())["scenarios"]
TEAM_SCENARIOS = [
    {"labels": scenario["labels"], **scenario["source"]}
    for scenario in GROUND_TRUTH
    if scenario["source"]["kind"] == "team"
]
PEER = re.compile(r"^- (\w+): (http://\S+)$", re.MULTILINE)
TOKEN = re.compile(r"/p/[\w-]+")


def teams_of(names):
    return [f"builtin:team:{name}" for name in names]


def shape(details):
    graph = details["graph"]
    calls = [(edge["caller"], edge["callee"], edge["calls"]) for edge in graph["edges"]]
    return graph["nodes"], calls, graph["agent_calls"], graph["self_calls"], details["labels"]


@pytest.fixture
def play(make_plan, make_deps, tmp_path):
    """Plays one exercise with each of the teams, and looks at their graphs alone."""

    async def play(names, **ways):
        graphs = EvaluatorRegistry([GraphEvaluator()])
        deps = make_deps(
            team_evaluators=graphs, results_dir=tmp_path / "-".join(ways or ["both"]), **ways
        )
        plan = make_plan(*teams_of(names), domain="coordination", task_ids=[EXERCISE])
        report = await evaluate(plan, deps, request="")
        assert report.status == "complete"
        for record in load_trials(deps.results_dir, "run-1"):
            assert record.trace_problems == (), record.row.participant
        return report

    return play


@pytest.mark.slow
async def test_a_bundled_team_shows_the_same_graph_whichever_way_it_is_seen(play, team_graph):
    every = teams()
    seen_by = {
        "the proxy": (1.0, await play(every, trust_reported_steps=False)),
        "reports": (0.0, await play(every, observe_teams=False)),
        "both": (1.0, await play(every)),
    }
    _, first = seen_by["the proxy"]
    for coverage, report in seen_by.values():
        for row, team in zip(report.teams, every.values(), strict=True):
            details = team_graph(report, row.participant)
            assert sorted(row.labels) == sorted(team.labels), team.name
            assert {found["name"] for found in details["findings"]} == set(team.findings)
            assert (row.coverage, row.contradictions) == (coverage, 0), team.name
            assert details["problems"] == []
            assert shape(details) == shape(team_graph(first, row.participant)), team.name


def test_every_bundled_team_is_a_scenario_of_the_ground_truth():
    assert {scenario["team"] for scenario in TEAM_SCENARIOS} == set(teams())
    assert len(TEAM_SCENARIOS) == 21


async def test_a_team_with_faults_has_the_labels_of_the_ground_truth(play):
    faulty = [scenario for scenario in TEAM_SCENARIOS if scenario["faults"]]
    names = ["+".join([scenario["team"], *scenario["faults"]]) for scenario in faulty]
    report = await play(names)
    for row, scenario in zip(report.teams, faulty, strict=True):
        assert sorted(row.labels) == scenario["labels"], row.participant
        assert (row.coverage, row.contradictions) == (1.0, 0), row.participant


class Caller:
    """An agent that asks the peers whose addresses stand in its message, over A2A."""

    def __init__(self, *asks):
        self.asks = asks
        self.texts = []

    async def __call__(self, text, context_id):
        self.texts.append(text)
        peers = dict(PEER.findall(text))
        asked = [name for name in self.asks if name in peers]
        told = [await ask(peers[name], f"What does {name} know?") for name in asked]
        return "\n".join([*told, "A right answer has more.", *peers.values()])


async def ask(url, text):
    """What an agent answers, by the SDK's own client."""
    async with httpx.AsyncClient(trust_env=False) as http:
        client = await create_client(url, ClientConfig(httpx_client=http, streaming=False))
        message = new_text_message(text, role=Role.ROLE_USER)
        [event] = [
            event async for event in client.send_message(SendMessageRequest(message=message))
        ]
        if event.HasField("message"):
            return get_message_text(event.message)
        task = event.task
        return " ".join(
            [get_message_text(task.status.message), *map(get_artifact_text, task.artifacts)]
        )


def knows(text, context_id):
    return "Nothing."


@pytest.fixture
def make_team_plan(read, benchmarks):
    """The plan that AgentBeats JSON makes of several participants."""

    def make(participants, *, entry, **config):
        config = {"domain": "coordination", "task_ids": [EXERCISE], "entry": entry, **config}
        request = read(json.dumps({"participants": participants, "config": config}))
        return resolve(request, benchmarks)

    return make


async def test_the_calls_between_remote_members_are_observed_and_the_idle_one_is_found(
    make_team_deps, make_team_plan, team_graph
):
    lead = Caller("orders")
    with (
        serve(scripted_agent(lead)) as lead_url,
        serve(scripted_agent(knows)) as orders,
        serve(scripted_agent(knows)) as idle,
    ):
        members = {"lead": lead_url, "orders": orders, "idle": idle}
        report = await evaluate(make_team_plan(members, entry="lead"), make_team_deps(), request="")
    [row] = report.teams
    assert (row.participant, row.measured, row.agents, row.calls) == (lead_url, 1, 3, 1)
    assert row.coverage == 1.0
    assert "isolated_member" in row.labels
    graph = team_graph(report, lead_url)["graph"]
    assert graph["roster_known"]
    assert graph["edges"] == [{"caller": "lead", "callee": "orders", "calls": 1}]
    assert [f["agents"] for f in team_graph(report, lead_url)["findings"][:1]]
    [text] = lead.texts
    assert set(dict(PEER.findall(text))) == {"orders", "idle"}


async def test_with_the_entry_all_every_member_is_asked(make_team_deps, make_team_plan, team_graph):
    callers = [Caller("b"), Caller("c"), Caller()]
    with (
        serve(scripted_agent(callers[0])) as a,
        serve(scripted_agent(callers[1])) as b,
        serve(scripted_agent(callers[2])) as c,
    ):
        plan = make_team_plan({"a": a, "b": b, "c": c}, entry="all")
        report = await evaluate(plan, make_team_deps(), request="")
    assert [row.participant for row in report.teams] == [a, b, c]
    assert [trial.status for trial in report.trials] == ["scored"] * 3
    edges = {
        name: [
            (edge["caller"], edge["callee"]) for edge in team_graph(report, url)["graph"]["edges"]
        ]
        for name, url in {"a": a, "b": b, "c": c}.items()
    }
    # Asked by another member, b finds addresses in the text as well, and asks c in its turn.
    assert edges == {"a": [("a", "b"), ("b", "c")], "b": [("b", "c")], "c": []}


async def test_a_member_that_is_down_is_named_before_anything_is_played(
    make_team_deps, make_team_plan
):
    deps = make_team_deps()
    with serve(scripted_agent(knows)) as lead, closed_port() as gone:
        plan = make_team_plan({"lead": lead, "orders": gone}, entry="lead")
        with pytest.raises(PreflightError, match=re.escape(gone)):
            await evaluate(plan, deps, request="")
    assert not list(deps.results_dir.rglob("manifest.json"))


async def test_what_a_front_door_reports_is_the_team_that_is_seen(
    make_team_deps, make_plan, reporting_agent, team_graph
):
    trace = {
        "trace_id": "theirs",
        "steps": [
            {"step_id": "1", "call_type": "AGENT", "name": "orders", "requests": "order 7?"},
            {"step_id": "2", "call_type": "AGENT", "name": "policy", "requests": "days?"},
        ],
    }
    with serve(reporting_agent(lambda text: ("No.", trace))) as url:
        plan = make_plan(url, domain="coordination", task_ids=[EXERCISE])
        report = await evaluate(plan, make_team_deps(), request="")
    [row] = report.teams
    assert (row.measured, row.agents, row.calls, row.coverage) == (1, 3, 2, 0.0)
    assert not team_graph(report, url)["graph"]["roster_known"]
    assert "bottleneck" in row.labels


async def test_a_team_whose_entry_asks_nobody_does_not_have_the_assessor_as_a_member(
    make_team_deps, make_team_plan, team_graph
):
    with serve(scripted_agent(knows)) as lead, serve(scripted_agent(knows)) as orders:
        plan = make_team_plan({"lead": lead, "orders": orders}, entry="lead")
        report = await evaluate(plan, make_team_deps(), request="")
    details = team_graph(report, lead)
    assert details["graph"]["nodes"] == ["lead", "orders"]
    assert details["graph"]["edges"] == []
    [row] = report.teams
    assert row.measured == 0
    [reason] = row.not_measured
    assert reason.startswith("no call between the members was seen")


async def test_a_front_door_that_says_nothing_of_its_team_has_no_coordination_to_measure(
    make_team_deps, make_plan
):
    with serve(scripted_agent(knows)) as url:
        plan = make_plan(url, domain="coordination", task_ids=[EXERCISE])
        report = await evaluate(plan, make_team_deps(), request="")
    [row] = report.teams
    assert (row.measured, row.coverage) == (0, None)
    [reason] = row.not_measured
    assert reason.startswith("only one agent was visible")


async def test_no_address_of_the_proxy_is_kept_anywhere(
    make_team_deps, make_team_plan, make_plan, tmp_path, caplog
):
    """The lead says all its peers' addresses back, and another one fails with them."""
    caplog.set_level(logging.WARNING)

    async def fails(text, context_id):
        return f"cannot reach {' '.join(dict(PEER.findall(text)).values())}"

    with (
        serve(scripted_agent(Caller("orders"))) as lead,
        serve(scripted_agent(fails, state="failed")) as orders,
    ):
        plan = make_team_plan({"lead": lead, "orders": orders}, entry="all")
        deps = make_team_deps(results_dir=tmp_path / "remote")
        report = await evaluate(plan, deps, request="")
    assert [trial.fault for trial in report.trials] == [None, "agent"]
    deps = make_team_deps(results_dir=tmp_path / "bundled")
    plan = make_plan(*teams_of(["star5", "degraded4"]), domain="coordination", task_ids=[EXERCISE])
    await evaluate(plan, deps, request="")
    kept = {path: path.read_text() for path in tmp_path.rglob("run-1/*")}
    assert len(kept) == 10
    assert {path.name for path, text in kept.items() if TOKEN.search(text)} == set()
    assert TOKEN.search(caplog.text) is None


async def test_what_a_team_does_for_another_task_at_the_same_time_is_no_part_of_an_exercise(
    make_team_deps, make_plan
):
    exercises = make_plan(*teams_of(["star5"]), domain="coordination", task_ids=[EXERCISE])
    both = (*exercises.tasks, PlannedTasks(domain="mock", task_ids=("create_task_1",)))
    plan = exercises.model_copy(update={"tasks": both, "num_trials": 3, "max_concurrency": 6})
    report = await evaluate(plan, make_team_deps(), request="")
    watched, others = report.teams
    assert (watched.domain, watched.measured, watched.calls) == ("coordination", 3, 12)
    assert (watched.coverage, watched.contradictions) == (1.0, 0)
    assert (others.domain, others.contradictions) == ("mock", 0)


@pytest.fixture
def play_again(make_team_deps, make_plan, tmp_path):
    """Plays the same plan, with the same clock and ids, and returns what `report.json` holds."""
    numbers = itertools.count()

    async def play(**ways):
        deps = make_team_deps(results_dir=tmp_path / str(next(numbers)), **ways)
        teams = teams_of(["mesh4", "relay4"])
        plan = make_plan(*teams, domain="coordination", task_ids=[EXERCISE])
        await evaluate(plan, deps, request="")
        return (deps.results_dir / "run-1" / "report.json").read_bytes()

    return play


async def test_two_runs_of_what_the_assessor_sees_are_the_same_byte_for_byte(play_again):
    assert await play_again(trust_reported_steps=False) == await play_again(
        trust_reported_steps=False
    )


async def test_two_runs_with_reports_differ_in_times_alone(play_again):
    first, second = [timeless(json.loads(await play_again())) for _ in range(2)]
    assert first == second


def timeless(report):
    """A report without what follows from the times that the participants reported."""
    of_time = {metric.name for metric in schedule.METRICS}
    for each in report["evaluations"]:
        each["results"] = [r for r in each["results"] if r["evaluator"] != "latency"]
        for result in each["results"]:
            for place in (
                result["values"],
                result["skipped"],
                result["details"].get("metrics", {}),
            ):
                for name in of_time & set(place):
                    del place[name]
    return report
