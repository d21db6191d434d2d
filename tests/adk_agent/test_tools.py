"""The seven tools: as functions, as an ADK agent's tools, and the three that the selector has."""

import asyncio
import json
import subprocess
import sys
import threading

import pytest
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import PrivateAttr

from adk_agent.assembly import Assembly
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import Overrides
from adk_agent.core.settings import Settings
from adk_agent.requests.registry import AgentRegistry
from adk_agent.results.progress import silent
from adk_agent.runs.store import load_report
from adk_agent.runs.tracking import run_ids
from adk_agent.tools import MAX_RUNNING, EvaluationTools
from tests.fakes import closed_port, scripted_agent, serve
from tests.fakes.runtime import chat_model
from tests.fakes.shop import lets_in

pytestmark = pytest.mark.usefixtures("quick_start")

SENTENCE = "Evaluate shop-bot on mock tasks create_task_1 and update_task_1"
CHAOS = """{"participants": {"agent": "builtin:null"},
    "config": {"domain": "mock", "num_tasks": 1, "chaos": "netwrk"}}"""
NAMES = [
    *("register_agent", "list_tasks", "find_tasks", "run_evaluation"),
    *("get_evaluation_status", "get_evaluation_results", "cancel_evaluation"),
]


@pytest.fixture(scope="module")
def shop():
    with serve(scripted_agent(lambda text, context_id: "I cannot help.", name="Shop")) as url:
        yield url


@pytest.fixture
def results_dir(tmp_path):
    return tmp_path / "results"


@pytest.fixture
def make_assembly(results_dir, benchmarks):
    def make(**settings):
        return Assembly(
            settings=Settings.load(results_dir=results_dir, **settings), benchmarks=benchmarks
        )

    return make


@pytest.fixture
async def tools(make_assembly):
    async with EvaluationTools(make_assembly(offline=True)) as opened:
        yield opened


async def ended(tools, run_id):
    await tools.finished(run_id)
    return await tools.get_evaluation_status(run_id)


@pytest.mark.requirement("adk:tools")
async def test_an_agent_is_registered_its_tasks_listed_and_its_evaluation_followed(
    tools, shop, results_dir
):
    registered = await tools.register_agent("Shop-Bot", f"{shop}/")
    assert (registered["name"], registered["url"]) == ("shop-bot", f"{shop}/")
    assert registered["card"]["name"] == "Shop"
    assert registered["replaced"] is None
    listed = await tools.list_tasks("mock", limit=2)
    assert (len(listed["tasks"]), listed["split"]) == (2, "base")
    assert listed["total"] > 2
    assert listed["tasks"][0].keys() == {"id", "title", "attributes"}
    begun = await tools.run_evaluation(SENTENCE)
    status = await tools.get_evaluation_status(begun["run_id"])
    assert status["state"] == "running"
    status = await ended(tools, begun["run_id"])
    assert (status["state"], status["progress"]["done"], begun["trials"]) == ("complete", 2, 2)
    results = await tools.get_evaluation_results(begun["run_id"])
    assert (results["state"], results["final"]) == ("complete", True)
    assert results["digest"]["rows"][0]["participant"] == f"{shop}/"
    assert "## Summary" in results["prose"]
    assert set(results["files"]) == {"report", "markdown", "trials"}
    assert "## Summary" in (results_dir / begun["run_id"] / "report.md").read_text()
    assert json.loads(json.dumps([registered, listed, begun, status, results]))


@pytest.mark.requirement("adk:tools")
async def test_an_evaluation_returns_at_once_and_shows_what_it_has_while_it_goes_on(
    tools, results_dir
):
    async def reply(text, context_id):
        await asyncio.to_thread(go_on.wait)  # set by another loop
        return "I cannot help."

    go_on = threading.Event()
    with serve(scripted_agent(reply)) as url:
        request = {
            "participants": {"a": "builtin:null", "b": url},
            "config": {"domain": "mock", "task_ids": ["create_task_1"], "max_concurrency": 1},
        }
        run_id = (await tools.run_evaluation(json.dumps(request)))["run_id"]
        while True:
            status = await tools.get_evaluation_status(run_id)
            if (status["progress"] or {}).get("done") == 1:
                break
            await asyncio.sleep(0.01)  # the first participant plays in processes of its own
        assert status["state"] == "running"
        partial = await tools.get_evaluation_results(run_id)
        script = (
            "import asyncio, sys\n"
            "from adk_agent.assembly import Assembly\n"
            "from adk_agent.core.settings import Settings\n"
            "from adk_agent.tools import EvaluationTools\n"
            "tools = EvaluationTools(Assembly(settings=Settings.load(results_dir=sys.argv[1])))\n"
            "print(asyncio.run(tools.get_evaluation_status(sys.argv[2]))['state'])\n"
        )
        other = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", script, results_dir, run_id],
            capture_output=True,
            text=True,
            check=True,
        )
        go_on.set()
        status = await ended(tools, run_id)
    assert (partial["state"], partial["final"]) == ("running", False)
    assert [row["trials"] for row in partial["digest"]["rows"]] == [1, 0]
    assert other.stdout.strip() == "running"
    assert status["state"] == "complete"


async def test_closing_stops_what_goes_on_and_keeps_what_was_finished(
    make_assembly, shop, results_dir
):
    async with EvaluationTools(make_assembly(offline=True)) as tools:
        begun = await tools.run_evaluation(
            f"{shop} on all mock tasks, 100 trials each", confirmed=True
        )
        run_id = begun["run_id"]
    assert (await tools.get_evaluation_status(run_id))["state"] == "interrupted"
    await tools.aclose()
    assert run_ids(results_dir) == [run_id]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("register_agent", ("shop", "http://h"), "cannot be an agent's name"),
        ("register_agent", ("shop-bot", "builtin:null"), "is bundled"),
        ("register_agent", ("shop-bot", "h h"), "address"),
        ("register_agent", (7, []), "must be text"),
        ("list_tasks", ("airlines",), "did you mean 'airline'"),
        ("list_tasks", ("mock", "bass"), "bass"),
        ("list_tasks", ("mock", "base", 0), "limit 0"),
        ("list_tasks", ("mock", "base", "many"), "limit 'many'"),
        ("list_tasks", ({},), "must be text"),
        ("find_tasks", ("refund", "airlines"), "did you mean 'airline'"),
        ("find_tasks", ("refund", "mock", "base", 0), "limit 0"),
        ("find_tasks", ("", "mock"), "give a query"),
        ("find_tasks", (7,), "must be text"),
        ("find_tasks", ("refund", "mock", "base", 5, ["writes"]), "must be an object"),
        ("find_tasks", ("refund", "mock", "base", 5, {"writes": 1}), "must be text"),
        ("find_tasks", ("zebra", "mock"), "none of their texts says 'zebra'"),
        ("find_tasks", ("status", "mock", "base", 5, {"mood": "bad"}), "they have gold_actions"),
        ("run_evaluation", ("Hello",), "I evaluate A2A agents"),
        ("run_evaluation", (None,), "must be text"),
        ("run_evaluation", (SENTENCE,), "no agent is named"),
        ("run_evaluation", (CHAOS,), "chaos 'netwrk': there is no profile of faults"),
        ("get_evaluation_status", ("nope",), "there is no run 'nope'"),
        ("get_evaluation_results", ("../..",), "not the id of a run"),
        ("get_evaluation_results", (3,), "must be text"),
    ],
)
async def test_what_cannot_be_done_is_an_error_in_words(tools, tool, arguments, words):
    answer = await getattr(tools, tool)(*arguments)
    assert list(answer) == ["error"]
    assert words in answer["error"]


async def test_a_card_behind_a_key_is_fetched_with_the_agents_own(tools, results_dir, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "the-key-of-the-shop")
    inner = scripted_agent(lambda text, context_id: "I cannot help.", name="Shop")
    admits = lambda request: request.headers.get("x-key") == "the-key-of-the-shop"  # noqa: E731
    guarded = lets_in(inner, admits, methods=("GET", "POST"))
    with serve(guarded) as url:
        refused = await tools.register_agent("shop-bot", url)
        assert "401" in refused["error"]
        told = await tools.register_agent("shop-bot", url, credentials="header:X-Key=SHOP_KEY")
    assert told["card"]["name"] == "Shop"
    assert "the-key" not in (results_dir / "agents.json").read_text()


async def test_an_agent_that_is_not_there_is_not_registered(tools, results_dir):
    with closed_port() as url:
        answer = await tools.register_agent("shop-bot", url)
        assert "error" in answer
        assert AgentRegistry(results_dir).agents() == ()
        begun = await tools.run_evaluation(f"Evaluate {url} on one mock task")
        status = await ended(tools, begun["run_id"])
    assert status["state"] == "failed"
    assert "not ready" in status["problem"]
    results = await tools.get_evaluation_results(begun["run_id"])
    assert "nothing was played" in results["error"]


async def test_a_large_plan_that_nobody_named_the_size_of_is_confirmed_first(
    make_assembly, shop, results_dir
):
    request = f"{shop} on mock, 30 trials each"
    async with EvaluationTools(make_assembly(offline=True)) as tools:
        asked = await tools.run_evaluation(request)
        assert "270 conversations in all" in asked["error"]
        assert run_ids(results_dir) == []
        begun = await tools.run_evaluation(request, confirmed=True)
        assert run_ids(results_dir) == [begun["run_id"]]


async def test_from_python_errors_are_raised(tools):
    with pytest.raises(RequestError):
        await tools.register("shop", "http://h")
    with pytest.raises(RequestError):
        await tools.start("Hello")


@pytest.mark.slow
async def test_there_is_an_end_to_the_evaluations_at_once(tools, shop):
    for _ in range(MAX_RUNNING):
        begun = await tools.run_evaluation(
            f"{shop} on all mock tasks, 90 trials each", confirmed=True
        )
        assert "run_id" in begun
    refused = await tools.run_evaluation("builtin:null on one mock task")
    assert "already running here" in refused["error"]


class Script(BaseLlm):
    """A model that says one thing after the other: tool calls, made of what it was told before."""

    model: str = "scripted"
    _steps: list = PrivateAttr()
    _heard: list = PrivateAttr(default_factory=list)

    def __init__(self, *steps):
        super().__init__()
        self._steps = list(steps)

    async def generate_content_async(self, llm_request, stream=False):
        parts = llm_request.contents[-1].parts
        self._heard += [p.function_response.response for p in parts if p.function_response]
        step = self._steps.pop(0)
        said = step(self._heard) if callable(step) else step
        part = types.Part(text=said) if isinstance(said, str) else None
        if part is None:
            name, arguments = said
            part = types.Part(function_call=types.FunctionCall(name=name, args=arguments))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


@pytest.mark.requirement("adk:tools")
async def test_an_adk_agent_can_use_all_seven(tools, shop):
    model = Script(
        ("register_agent", {"name": "shop-bot", "url": shop}),
        ("list_tasks", {"domain": "mock", "limit": 1}),
        ("find_tasks", {"query": "status", "domain": "mock", "where": {"writes": "yes"}}),
        lambda heard: ("run_evaluation", {"request": SENTENCE}),
        lambda heard: ("get_evaluation_status", {"run_id": heard[3]["run_id"]}),
        lambda heard: ("get_evaluation_results", {"run_id": heard[3]["run_id"]}),
        "Done.",
    )
    agent = LlmAgent(name="asker", model=model, tools=list(tools.functions))
    declared = [tool._get_declaration() for tool in await agent.canonical_tools()]
    assert [each.name for each in declared] == NAMES
    assert all(each.description for each in declared)
    runner = InMemoryRunner(agent=agent, app_name="asking")
    session = await runner.session_service.create_session(app_name="asking", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="Go")])
    said = [
        event.content.parts[0].text
        async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)
        if event.content
    ]
    assert said[-1] == "Done."
    registered, listed, found, begun, status, results = model._heard
    assert registered["card"]["name"] == "Shop"
    assert len(listed["tasks"]) == 1
    assert {task["attributes"]["writes"] for task in found["tasks"]} == {"yes"}
    assert status["run_id"] == begun["run_id"]
    assert results.get("run_id", begun["run_id"]) == begun["run_id"]
    assert (await ended(tools, begun["run_id"]))["state"] == "complete"


# The selector's three tools, over the real litellm.


def tool_call(tool, **arguments):
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call-{tool}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def draft(*agents, **tasks):
    selection = {"domain": "mock", **(tasks or {"num_tasks": 2})}
    return {"intent": "evaluate", "agents": list(agents), "selections": [selection]}


@pytest.fixture
def select(make_assembly, monkeypatch):
    """Sends a request through the workflow with a model that answers the selector so."""

    async def run(text, *answers, provider=None):
        left, seen = list(answers), []

        def answer(request):
            if not any("read requests" in str(m["content"]) for m in request["messages"]):
                return "ready ###STOP###"
            seen.append(request)
            return left.pop(0) if len(left) > 1 else left[0]

        with serve(chat_model(answer)) as url:
            known = {"llm_api_key": "sk-key", "llm_base_url": f"{url}/v1", "llm_model": "tiny"}
            if provider is not None:
                monkeypatch.setenv(f"{provider.upper()}_API_BASE", f"{url}/v1")
                known = {"agent_model": f"{provider}/tiny"}
            assembly = make_assembly(**known)

            result = await assembly.pipeline().run_request(
                text, overrides=Overrides(), on_progress=silent
            )
        return result, seen

    return run


def heard(request):
    return [json.loads(m["content"]) for m in request["messages"] if m["role"] == "tool"]


def report_of(results_dir, result):
    assert result.problem is None, result.problem
    return load_report(results_dir, result.run_id)


@pytest.mark.requirement("adk:tools")
async def test_the_selector_looks_at_tasks_and_registers_what_the_request_names(
    select, shop, results_dir
):
    result, seen = await select(
        f"Register the agent at {shop} as shop-bot and evaluate it on two mock tasks",
        tool_call("list_tasks", domain="mock", limit=1),
        tool_call("register_agent", name="shop-bot", url=shop),
        json.dumps(draft("shop-bot")),
    )
    offered = {tool["function"]["name"] for tool in seen[0]["tools"]}
    assert offered == {"register_agent", "list_tasks", "find_tasks"}
    listed, registered = heard(seen[2])
    assert len(listed["tasks"]) == 1
    assert registered["name"] == "shop-bot"
    assert AgentRegistry(results_dir).addresses() == {"shop-bot": shop}
    plan = report_of(results_dir, result).plan
    assert [each.address for each in plan.participants] == [shop]


async def test_a_registered_name_is_an_address_to_the_model(select, shop, tools, results_dir):
    await tools.register_agent("shop-bot", shop)
    answer = json.dumps(draft(shop, tasks=["create_task_1", "update_task_1"]))
    result, seen = await select(SENTENCE, answer)
    assert shop in str(seen[0]["messages"])
    report = report_of(results_dir, result)
    assert [each.address for each in report.plan.participants] == [shop]
    assert report.request == SENTENCE
    assert not any("read by rules" in warning for warning in report.warnings)


async def test_an_answer_by_adks_own_tool_is_checked_like_any_other(select, results_dir):
    result, seen = await select(
        "Evaluate builtin:null on two mock tasks",
        tool_call("set_model_response", **draft("builtin:oracle")),
        tool_call("set_model_response", **draft("builtin:null")),
        provider="hosted_vllm",  # of which ADK does not know that it takes tools and a schema
    )
    offered = {tool["function"]["name"] for tool in seen[0]["tools"]}
    assert "set_model_response" in offered
    report = report_of(results_dir, result)
    assert [each.address for each in report.plan.participants] == ["builtin:null"]
    (why,) = heard(seen[1])
    assert "builtin:oracle" in why["error"]
    assert len(seen) == 2


@pytest.mark.parametrize(
    "answer",
    [
        tool_call("list_tasks", domain="mock"),
        tool_call("delete_everything"),
        {"role": "assistant", "content": None, "tool_calls": []},
        400,
    ],
)
async def test_a_model_that_comes_to_no_answer_is_replaced_by_the_rules(
    select, results_dir, answer
):
    result, seen = await select("Evaluate builtin:null on two mock tasks", answer)
    report = report_of(results_dir, result)
    assert report.plan.total_trials == 2
    assert any("read by rules" in warning for warning in report.warnings)
    assert len(seen) <= 3


@pytest.mark.parametrize(
    ("name", "url", "words"),
    [
        ("evil-bot", "http://evil.example", "does not ask to register"),
        ("other-bot", None, "does not ask to register"),
        ("shop-bot", None, "is already http"),
        ("mock", None, "cannot be an agent's name"),
    ],
)
async def test_a_model_registers_nothing_that_the_request_does_not_name(
    select, tools, shop, results_dir, name, url, words
):
    with serve(scripted_agent(lambda text, context_id: "Hi.")) as first:
        await tools.register_agent("shop-bot", first)
        _, seen = await select(
            f"Evaluate {shop} on two mock tasks, it is a shop-bot",
            tool_call("register_agent", name=name, url=url or shop),
            json.dumps(draft(shop)),
        )
    (answer,) = heard(seen[1])
    assert words in answer["error"]
    assert AgentRegistry(results_dir).addresses() == {"shop-bot": first}
