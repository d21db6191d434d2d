"""`greenroom serve` as a process: what it refuses, how it starts, and how it ends."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys

import httpx
import pytest

from adk_agent.cli import serve as cli_serve
from adk_agent.cli.main import main
from adk_agent.cli.serve import address_of, network_policy
from adk_agent.core.settings import Settings
from adk_agent.service.listening import bound_socket
from tau_bridge.a2a.policy import NetworkPolicy

pytestmark = pytest.mark.usefixtures("quick_start")

LONG = json.dumps(
    {
        "participants": {"agent": "builtin:null"},
        "config": {"domain": "airline", "num_trials": 100, "max_concurrency": 1},
    }
)
EVERYWHERE = "0.0.0.0"  # noqa: S104 - bound, and never listened on


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "nowhere.invalid"], "'nowhere.invalid' is not a known host; correct --host"),
        (["--host", "192.0.2.1"], "not an address of this machine; correct --host"),
        (["--card-url", "ftp://x/"], "--card-url 'ftp://x/' is not an http"),
        (["--card-url", "http://:80/"], "is not an http"),
        (["--card-url", "http://a:b@c/"], "is not an http"),
        (["--port", "0", "--task-store", "redis"], "'redis' is no task store"),
    ],
)
def test_what_cannot_be_served_is_one_clear_message(arguments, message, capsys, monkeypatch):
    if arguments[1] == "nowhere.invalid":
        monkeypatch.setattr(socket, "getaddrinfo", _unknown)
    assert main(["serve", *arguments]) != 0
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def _unknown(*arguments, **options):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize("flag", ["--port", "--grpc-port"])
def test_a_port_in_use_is_named(flag, capsys):
    if flag == "--grpc-port":
        pytest.importorskip("grpc", reason="the extra grpc is not installed")
    with bound_socket("127.0.0.1", 0) as taken:
        taken.listen()
        port = taken.getsockname()[1]
        arguments = ["--port", "0", flag, str(port)]
        assert main(["serve", *arguments]) == 3
    said = capsys.readouterr().err
    assert said == (
        f"greenroom: cannot listen on 127.0.0.1:{port}: the port is in use; choose another {flag}\n"
    )


def test_a_missing_extra_is_named(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "grpc", None)
    assert main(["serve", "--port", "0", "--grpc-port", "0"]) == 2
    assert "--grpc-port needs the extra grpc" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "policy"),
    [
        ("127.0.0.1", NetworkPolicy.open(allowed=["127.0.0.1:8080"])),
        ("localhost", NetworkPolicy.open(allowed=["127.0.0.1:8080"])),
        ("::1", NetworkPolicy.open(allowed=["127.0.0.1:8080"])),
        (EVERYWHERE, NetworkPolicy.public(allowed=["127.0.0.1:8080"])),
        ("::", NetworkPolicy.public(allowed=["127.0.0.1:8080"])),
        ("green.example", NetworkPolicy.public(allowed=["127.0.0.1:8080"])),
    ],
)
def test_a_public_service_may_call_only_public_and_configured_addresses(host, policy):
    settings = Settings.load(allowed_hosts=" 127.0.0.1:8080 ,")
    assert network_policy(settings, host) == policy


def test_an_allowed_host_that_is_none_is_refused(capsys, monkeypatch):
    monkeypatch.setenv("GREENROOM_ALLOWED_HOSTS", "http://x/")
    assert main(["serve", "--host", EVERYWHERE, "--port", "0"]) == 2
    assert "GREENROOM_ALLOWED_HOSTS" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "shown"), [(EVERYWHERE, "127.0.0.1"), ("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")]
)
def test_the_address_that_a_card_names_by_default(host, shown):
    with bound_socket(host, 0) as listener:
        assert address_of(listener) == f"http://{shown}:{listener.getsockname()[1]}/"


@pytest.mark.parametrize(
    ("host", "token", "warnings"),
    [(EVERYWHERE, None, 1), (EVERYWHERE, "secret-token", 0), ("127.0.0.1", None, 0)],
)
def test_a_public_service_that_anybody_may_use_warns_once(
    host, token, warnings, monkeypatch, caplog
):
    served = []
    monkeypatch.setattr(cli_serve, "serve", lambda *_, **given: served.append(given))
    if token is not None:
        monkeypatch.setenv("GREENROOM_AUTH_TOKEN", token)
    assert main(["serve", "--host", host, "--port", "0"]) == 0
    assert bool(served[0]["card"].security_schemes) is (token is not None)
    said = [record for record in caplog.records if "anybody who reaches it" in record.getMessage()]
    assert len(said) == warnings


@contextlib.contextmanager
def process(tmp_path):
    """The service with its tasks in a file, on a port of its own; yields process and address."""
    with bound_socket("127.0.0.1", 0) as probe:
        port = probe.getsockname()[1]
    store = f"sqlite:{tmp_path / 'tasks.db'}"
    command = [sys.executable, "-m", "adk_agent", "--port", str(port), "--task-store", store]
    variables = {**os.environ, "GREENROOM_RESULTS_DIR": str(tmp_path / "results")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=variables) as running:
        try:
            assert any("startup complete" in line for line in running.stderr)
            yield running, f"http://127.0.0.1:{port}"
        finally:
            running.kill()


def sent_while_it_plays(edge, running, address, sent):
    """Start an evaluation, and send a signal after its first trial; the events that were heard."""
    body = edge.rpc("SendStreamingMessage", {"message": edge.message_1_0(LONG)})
    events, was_sent = [], False
    with edge.Client(address) as client:
        try:
            for event in client.stream("/", body):
                events.append(event["result"])
                metadata = event["result"].get("statusUpdate", {}).get("metadata", {})
                if metadata.get("progress", {}).get("done", 0) >= 1 and not was_sent:
                    was_sent = True
                    running.send_signal(sent)
        except httpx.TransportError:
            if not was_sent:  # afterwards the connection may break
                raise
    assert was_sent, events
    return events


def task_after_a_restart(edge, tmp_path, events):
    with process(tmp_path) as (_, address), edge.Client(address) as client:
        return client.get(events[0]["task"]["id"])["result"]


@pytest.mark.timeout(300)  # up to two starts of a process, each of which takes its time
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_a_signal_ends_evaluations_with_what_they_have_and_the_service_by_its_code(
    tmp_path, edge, sent, code
):
    with process(tmp_path) as (running, address):
        events = sent_while_it_plays(edge, running, address, sent)
        assert running.wait(timeout=60) == code
        assert "Traceback" not in running.stderr.read()
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_FAILED"
    (report,) = (tmp_path / "results").glob("*/report.json")
    assert json.loads(report.read_text())["status"] == "interrupted"
    if sent == signal.SIGTERM:
        task = task_after_a_restart(edge, tmp_path, events)
        assert task["status"]["state"] == "TASK_STATE_FAILED"
        assert [artifact["name"] for artifact in task["artifacts"]] == ["evaluation"]


@pytest.mark.timeout(300)
def test_after_a_kill_the_task_is_failed_with_its_finished_trials(tmp_path, edge):
    with process(tmp_path) as (running, address):
        events = sent_while_it_plays(edge, running, address, signal.SIGKILL)
        assert running.wait(timeout=60) == -signal.SIGKILL
    task = task_after_a_restart(edge, tmp_path, events)
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert "The service ended" in task["status"]["message"]["parts"][0]["text"]
    (artifact,) = task["artifacts"]
    assert artifact["parts"][1]["data"]["max_score"] >= 1
