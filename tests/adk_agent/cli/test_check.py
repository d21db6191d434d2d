"""`greenroom check` on the command line."""

import json
import socket

import pytest

from tests.fakes import closed_port, scripted_agent, serve
from tests.fakes.shop import shop_agent, wants_token, with_card

pytestmark = pytest.mark.usefixtures("quick_start")


def statuses(out):
    return {each["name"]: each["status"] for each in json.loads(out)["checks"]}


def test_a_good_agent_gets_a_table_and_the_next_command(shell):
    with serve(shop_agent()) as url:
        code, out, err = shell("check", url)
    assert code == 0
    assert not err
    assert "JSONRPC 1.0 answered 2 messages with a task that is completed" in out
    assert "Ready to be evaluated (3 messages sent)." in out
    assert f"next: greenroom run --agent {url} --domain DOMAIN --num-tasks 5" in out
    assert max(map(len, out.splitlines())) <= 100


def test_warnings_are_named_and_end_with_exit_code_0(shell):
    with serve(scripted_agent(lambda text, context: "Let me see.")) as url:
        code, out, _ = shell("check", url)
    assert code == 0
    assert "Ready to be evaluated, with warnings: text wire" in out
    assert "-> no tool is called by it" in out


def test_strict_ends_with_exit_code_1_for_warnings_alone(shell):
    with serve(scripted_agent(lambda text, context: "Let me see.")) as url:
        assert shell("check", url, "--strict")[0] == 1
    with serve(shop_agent()) as url:
        assert shell("check", url, "--strict")[0] == 0
    with closed_port() as url:
        assert shell("check", url, "--strict")[0] == 3


def test_a_failure_ends_with_exit_code_1_and_says_what_to_do(shell):
    app = with_card(shop_agent(), lambda card: card.update(supportedInterfaces=[]))
    with serve(app) as url:
        code, out, _ = shell("check", url)
    assert code == 1
    assert "Not ready: card, interfaces (0 messages sent)." in out


def test_nothing_at_the_address_ends_with_exit_code_3(shell):
    with closed_port() as url:
        code, out, _ = shell("check", url)
    assert code == 3
    assert f"Nothing answers at {url}." in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["exho"], "did you mean 'echo'?"),
        (["ftp://shop.test"], "not an http:// or https:// address"),
        (["http://169.254.169.254"], "metadata service"),
        (["http://127.0.0.1:9", "--token", "a b"], "--token"),
        (["http://127.0.0.1:9", "--key", "/nowhere.pem"], "--key: cannot read"),
    ],
)
def test_what_cannot_be_used_ends_with_exit_code_2(greenroom, assert_complains, arguments, words):
    assert_complains(greenroom("check", *arguments), 2, words)


def test_json_has_every_check_once(shell):
    with serve(shop_agent()) as url:
        code, out, _ = shell("check", url, "--json")
    told = json.loads(out)
    assert code == 0
    assert (told["schema_version"], told["verdict"], told["agent"]) == ("1", "ready", url)
    assert list(statuses(out)) == [
        *("reach", "card", "addresses", "interfaces", "authentication", "streaming"),
        *("text_wire", "context", "clock", "latency", "signature", "extensions"),
    ]


def test_a_terminal_obeys_nothing_in_a_card(shell):
    hostile = "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] \u202e\x9b1m"
    app = with_card(shop_agent(), lambda card: card.update(name=hostile, version=hostile))
    with serve(app) as url:
        code, out, _ = shell("check", url)
        _, as_json, _ = shell("check", url, "--json")
    assert code == 0
    assert not set("\x1b\x07\u202e\x9b") & set(out + as_json)
    assert "[bold]x[/bold]" in out


def test_a_token_is_read_from_a_file_and_shown_nowhere(shell, tmp_path):
    token = "a-secret-of-many-letters"
    (tmp_path / "token").write_text(token)
    with serve(wants_token(shop_agent(), token)) as url:
        code, out, err = shell("check", url, "--token", f"@{tmp_path / 'token'}")
    assert code == 0
    assert token not in out + err
    assert f"--num-tasks 5 --token @{tmp_path / 'token'}" in out


def test_a_token_on_the_command_line_is_not_repeated(shell):
    with serve(wants_token(shop_agent(), "a-secret")) as url:
        code, out, err = shell("check", url, "--token", "a-secret")
    assert code == 0
    assert "a-secret" not in out + err
    assert "--token TOKEN" in out


def test_a_registered_agent_is_checked_by_its_name(shell, results_dir):
    from adk_agent.requests.registry import AgentRegistry, CardSummary, RegisteredAgent

    card = CardSummary(
        name="shop",
        description="",
        version="1",
        skills=(),
        streaming=False,
        protocol_version="1.0",
        transport="JSONRPC",
    )
    with serve(shop_agent()) as url:
        AgentRegistry(results_dir).add(RegisteredAgent(name="shop-bot", url=url, card=card))
        code, out, _ = shell("check", "shop-bot")
    assert code == 0
    assert f"next: greenroom run --agent {url} " in out


@pytest.mark.parametrize("name", ["null", "echo", "oracle", "gullible", "reference", "team:star5"])
def test_no_bundled_agent_fails(greenroom, name):
    result = greenroom("check", name, "--json")
    assert result.returncode == 0, result.stdout
    assert "fails" not in statuses(result.stdout).values()


def test_a_server_that_speaks_no_http_is_not_reached(shell):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.listen()
        code, out, _ = shell(
            "check", f"http://127.0.0.1:{silent.getsockname()[1]}", "--timeout", "1"
        )
    assert code == 3
    assert "Nothing answers" in out
