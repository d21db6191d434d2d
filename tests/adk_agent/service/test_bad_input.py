"""Bad input over real HTTP, in both bindings and versions: a clear answer, at most one line of log."""

import contextlib
import json
import logging
import socket
import threading
from dataclasses import replace

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings
from adk_agent.requests.registry import AgentRegistry, CardSummary, RegisteredAgent
from adk_agent.service.callers import Callers
from adk_agent.service.options import ServiceOptions
from adk_agent.service.server import build_service
from tau_bridge.a2a.policy import NetworkPolicy
from tests.fakes import closed_port, serve

pytestmark = pytest.mark.usefixtures("quick_start")

CARD_URL = "http://green.example:9009/"
WAYS = ("JSON-RPC 1.0", "JSON-RPC 0.3", "HTTP+JSON 1.0", "HTTP+JSON 0.3")


@pytest.fixture
def start(tmp_path, benchmarks, edge):
    """Serves the evaluation itself with the given options; gives clients by token."""
    with contextlib.ExitStack() as stack:

        def starting(*, network=None, own_port=None, **options):
            settings = Settings.load(results_dir=tmp_path, offline=True)
            assembly = Assembly(settings=settings, benchmarks=benchmarks)
            if network is not None:
                assembly = replace(assembly, network=network)
            chosen = ServiceOptions(**options)
            own = [] if own_port is None else [f"http://127.0.0.1:{own_port}/"]
            service = build_service(assembly, card_url=CARD_URL, options=chosen, own_addresses=own)
            address, _ = stack.enter_context(edge.running(service, chosen))
            return lambda token=None: stack.enter_context(edge.Client(address, token))

        yield starting


def request_of(*agents, **config):
    participants = {f"agent{number}": agent for number, agent in enumerate(agents)}
    task = {"domain": "mock", "task_ids": ["create_task_1"]}
    return json.dumps({"participants": participants, "config": {**task, **config}})


def send(client, edge, text, way="JSON-RPC 1.0", **fields):
    """The task that a text leads to, in the form of its own way, as JSON text."""
    if way == "JSON-RPC 1.0":
        return client.rpc_1_0("SendMessage", message=edge.message_1_0(text, **fields))
    if way == "JSON-RPC 0.3":
        return client.rpc_0_3("message/send", message=edge.message_0_3(text, **fields))
    if way == "HTTP+JSON 1.0":
        body = {"message": edge.message_1_0(text, **fields)}
        return client.http.post("/message:send", json=body, headers=edge.HEADERS_1_0).json()
    message = {"messageId": "m", "role": "ROLE_USER", "content": [{"text": text}], **fields}
    return client.http.post("/v1/message:send", json={"message": message}).json()


def said(answer):
    """The state of a task and the words beside it, in lower case."""
    task = answer.get("result", answer)
    task = task.get("task", task)
    return f"{task['status']['state']} {json.dumps(task['status'].get('message'))}".lower()


def noted(caplog):
    return [record for record in caplog.records if record.levelno >= logging.WARNING]


UNUSABLE = [
    (request_of(5), "participants.agent0 is 5"),
    (request_of("builtin:null", num_tasks="three"), "config.num_tasks is 'three'"),
    (request_of("builtin:null", max_steps=1.5), "config.max_steps is 1.5"),
    ('{"participants": {"agent": "builtin:null"}}', "config.domain is missing"),
    ('{"participants": {"agent": "builtin:null"}, "config": 3}', "config is 3"),
    ('{"participants": {"a": "builtin:null"}, "config": {"x": ' + "[" * 9000, "nested too deeply"),
    ('{"participants": {"agent"', "the json cannot be read"),
    ("Evaluate builtin:nul on one mock task", "did you mean 'null'"),
    ("x" * 250_000, "250000 characters"),
]


def test_what_cannot_be_used_is_rejected_with_the_reason_whichever_way_it_comes(
    start, edge, caplog
):
    client = start()()
    for way in WAYS:
        for text, reason in UNUSABLE:
            caplog.clear()
            answer = said(send(client, edge, text, way))
            assert "rejected" in answer, (way, text[:60])
            assert reason in answer, (way, text[:60], answer)
            assert len(noted(caplog)) <= 1


def test_an_empty_message_gets_help_whichever_way_it_comes(start, edge, caplog):
    client = start()()
    for way in WAYS:
        for text in ("", " \n\t"):
            assert "i evaluate a2a agents on the tasks" in said(send(client, edge, text, way))
    assert noted(caplog) == []


NO_REQUESTS = [
    [],
    "text",
    {},
    {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "extra": 1},
    {"jsonrpc": "2.0", "id": [1], "method": "GetTask"},
    {"jsonrpc": "2.0", "id": 1.5, "method": "GetTask"},
    {"jsonrpc": "2.0", "id": 1, "method": ""},
    {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": 7},
]


@pytest.mark.parametrize("body", NO_REQUESTS)
def test_an_invalid_request_leaves_one_line_in_the_log_and_no_traceback(client, caplog, body):
    answer = client.http.post("/", json=body, headers={"A2A-Version": "1.0"}).json()
    assert answer["error"]["code"] == -32600
    [record] = noted(caplog)
    assert record.exc_info is None


def test_a_request_of_0_3_without_an_id_leaves_one_line_and_no_traceback(client, caplog):
    body = {"jsonrpc": "2.0", "method": "tasks/get", "params": {"id": "x"}}
    assert client.http.post("/", json=body).json()["error"]["code"] == -32600
    [record] = noted(caplog)
    assert record.exc_info is None


def test_a_service_is_recognised_by_all_its_names(start, edge, tmp_path):
    client = start(own_port=9123)()
    card = CardSummary(
        name="x", description="", version="", skills=(), streaming=False,
        protocol_version="1.0", transport="JSONRPC",
    )  # fmt: skip
    itself = "http://localhost:9123/"
    AgentRegistry(tmp_path).add(RegisteredAgent(name="shop-bot", url=itself, card=card))
    hosts = ("127.0.0.1", "localhost", "LOCALHOST", "[::1]", "0.0.0.0", "127.0.0.2", "[::]")  # noqa: S104
    for address in (CARD_URL, *(f"http://{host}:9123" for host in hosts)):
        for way in WAYS:
            assert "is this service itself" in said(send(client, edge, request_of(address), way))
    assert "is this service itself" in said(
        send(client, edge, "Evaluate shop-bot on one mock task")
    )
    assert list(tmp_path.glob("*/trials.jsonl")) == []


def test_a_participant_that_is_not_there_fails_the_task_by_name(start, edge, caplog):
    client = start()()
    with closed_port() as dead:
        for way in WAYS:
            answer = said(send(client, edge, request_of(dead), way))
            assert "failed" in answer
            assert f"{dead}: " in answer
            assert "traceback" not in answer
    assert [record for record in noted(caplog) if record.exc_info] == []


def test_two_requests_in_one_context_are_two_tasks(start, edge):
    client = start()()
    asked = [
        client.rpc_1_0("SendMessage", message=edge.message_1_0(text, contextId="same"))["result"]
        for text in (request_of("builtin:null"), request_of("builtin:null", num_trials=2))
    ]
    tasks = [answer["task"] for answer in asked]
    assert len({task["id"] for task in tasks}) == 2
    assert [task["artifacts"][0]["parts"][1]["data"]["max_score"] for task in tasks] == [1, 2]


FOLLOW_UPS = ("status?", "show the report", "show the failures", "cancel everything", "resume",
              "run it again", "status of run {run}", "resume run {run}", "cancel run {run}",
              "show the report of run {run}", "run the failed ones of run {run} again")  # fmt: skip


def test_another_callers_run_cannot_be_asked_for_by_context_reference_or_id(start, edge):
    as_caller = start(callers=Callers.of(SecretStr("first-token,second-token")))
    first, second = as_caller("first-token"), as_caller("second-token")
    task = first.rpc_1_0("SendMessage", message=edge.message_1_0(request_of("builtin:null")))
    task = task["result"]["task"]
    run_id = task["metadata"]["progress"]["run_id"]
    for follow_up in FOLLOW_UPS:
        text = follow_up.format(run=run_id)
        ways = ({"contextId": task["contextId"]}, {"referenceTaskIds": [task["id"]]})
        for fields in ways:
            answer = send(second, edge, text, **fields)
            words = said(answer)
            assert "there is no evaluation to speak of" in words or "does not belong" in words
            assert "artifacts" not in answer["result"]["task"]
        named = send(second, edge, text, taskId=task["id"])
        assert named["error"]["code"] == -32001
    assert f"run {run_id} is complete" in said(
        send(first, edge, "status?", contextId=task["contextId"])
    )


@contextlib.contextmanager
def forbidden():
    """A port that nobody may call; gives its number, and a list of those who did."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        callers = []

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    callers.append(connection.recv(100))
                    connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname()[1], callers
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(10)


HOSTS = ("127.0.0.1", "localhost", "localhost.", "a.localhost", "127.1", "0x7f000001", "2130706433",
         "0", "0.0.0.0", "127.0.0.1.",  # noqa: S104 - never bound
         "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::127.0.0.1]",
         "[64:ff9b::7f00:1]", "[2002:7f00:1::]")  # fmt: skip


def test_a_public_service_calls_no_forbidden_address_in_any_notation(start, edge):
    client = start(network=NetworkPolicy.public())()
    with forbidden() as (port, callers):
        for host in HOSTS:
            url = f"http://{host}:{port}/"
            for text in (request_of(url), f"Evaluate {url} on one mock task"):
                assert "may not be called" in said(send(client, edge, text)), url
            pushed = client.rpc_1_0(
                "SendMessage",
                message=edge.message_1_0("hello"),
                configuration={"taskPushNotificationConfig": {"url": url}},
            )
            assert pushed["error"]["code"] == -32602, url
        team = {"participants": {"a": f"http://localhost:{port}", "b": "builtin:null"}}
        team["config"] = {"domain": "coordination", "entry": "b", "num_tasks": 1}
        assert "may not be called" in said(send(client, edge, json.dumps(team)))
        assert callers == []
    assert "completed" in said(send(client, edge, request_of("builtin:null")))


def luring_agent(port):
    """An agent whose card, or whose answer, leads to a port of the same host."""

    async def card(request):
        how = request.path_params["how"]
        there = f"http://127.0.0.1:{port}/"
        if how == "redirected-card":
            return RedirectResponse(there)
        addresses = {
            "redirected-message": [f"{request.base_url}{how}/say"],
            "other-port": [there],
            "names": [f"http://localhost:{port}/", f"http://0:{port}/", f"//127.0.0.1:{port}/"],
        }
        interfaces = [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            for url in addresses.get(how, [])
        ]
        return JSONResponse(
            {"name": "x", "version": "1", "description": "", "supportedInterfaces": interfaces}
        )

    async def say(request):
        return RedirectResponse(f"http://127.0.0.1:{port}/")

    return Starlette(
        routes=[
            Route("/{how}/.well-known/agent-card.json", card),
            Route("/{how}/say", say, methods=["POST"]),
        ]
    )


def test_an_agent_that_may_be_called_leads_nowhere_else(start, edge):
    with forbidden() as (port, callers), serve(luring_agent(port)) as agent:
        allowed = NetworkPolicy.public(allowed=[agent.removeprefix("http://")])
        client = start(network=allowed)()
        for how in ("redirected-card", "redirected-message", "other-port", "names", "no-interface"):
            assert "failed" in said(send(client, edge, request_of(f"{agent}/{how}"))), how
        assert callers == []


def test_no_request_over_a2a_reads_a_file(start, edge, tmp_path, monkeypatch):
    (tmp_path / "returns.yaml").write_text("tasks: [{prompt: x, expect: {contains: y}}]\n")
    monkeypatch.chdir(tmp_path)
    client = start()()
    sentence = send(client, edge, "Evaluate builtin:null on all tasks of returns.yaml")
    assert "completed" not in said(sentence)
    options = {"task_files": [str(tmp_path / "returns.yaml")]}
    record = send(client, edge, request_of("builtin:null", options=options))
    state = said(record)
    assert "rejected" in state
    assert "no request can name task files" in state
