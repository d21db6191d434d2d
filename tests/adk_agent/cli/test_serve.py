"""`greenroom serve`: what it refuses before it listens."""

import socket
import sys

import pytest

from adk_agent.cli import serve as cli_serve
from adk_agent.cli.main import main
from adk_agent.cli.serve import address_of, network_policy
from adk_agent.core.settings import Settings
from adk_agent.service.listening import bound_socket
from tau_bridge.a2a.policy import NetworkPolicy
from tests.fakes import closed_port

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.mark.parametrize("port", ["-1", "99999", "http"])
def test_what_is_no_port_is_exit_2(greenroom, assert_complains, port):
    assert_complains(greenroom("serve", "--port", port), 2, "--port")
    assert_complains(greenroom("agent", "null", "--port", port), 2, "--port")
    assert_complains(greenroom("serve", PORT=port), 2, "PORT")


def test_a_port_in_use_is_exit_3(greenroom, assert_complains):
    with closed_port() as url:
        port = url.rpartition(":")[2]
        assert_complains(greenroom("serve", "--port", port), 3, port)
        assert_complains(greenroom("agent", "null", "--port", port), 3, port)


EVERYWHERE = "0.0.0.0"  # noqa: S104 - bound, and never listened on


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "nowhere.invalid"], "'nowhere.invalid' is not a known host; correct --host"),
        (["--host", "192.0.2.1"], "not an address of this machine; correct --host"),
        (["--card-url", "ftp://x/"], "--card-url 'ftp://x/' is not an http"),
        (["--card-url", "http://:80/"], "is not an http"),
        (["--card-url", "http://a:b@c/"], "'http://c' must not carry a user name"),
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
    said = [record for record in caplog.records if "without authentication" in record.getMessage()]
    assert len(said) == warnings
