"""Bearer tokens of registered agents: kept by the name of a variable or a file, never by value."""

import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.errors import PreflightError, RequestError
from adk_agent.core.settings import SECRET_VARIABLES, Settings
from adk_agent.requests.agent_tokens import TokenSource, checked_source
from adk_agent.requests.registry import AgentRegistry
from adk_agent.tools import EvaluationTools
from tau_bridge.a2a.credentials import Credentials
from tests.fakes import RequestLog, scripted_agent, serve

pytestmark = pytest.mark.usefixtures("quick_start")

TOKEN = "hush-hush"


@pytest.fixture
def log():
    """An agent that notes what it is sent."""
    return RequestLog(scripted_agent(lambda text, context_id: "I cannot help with that."))


def sent(log):
    return {post.headers.get("authorization") for post in log.posts}


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    return path


def test_a_token_is_read_from_a_variable_or_a_file(monkeypatch, token_file):
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    assert checked_source("SHOP_TOKEN", "").read("shop-bot") == TOKEN
    assert checked_source("", str(token_file)).read("shop-bot") == TOKEN
    assert checked_source("", "").read("shop-bot") is None


@pytest.mark.parametrize(
    ("token_env", "token_file"),
    [
        ("sk-123456", ""),
        ("ghp_0123456789abcdef", ""),
        ("Bearer x", ""),
        ("", "sk-123456"),
        ("", "/dev/zero"),
        ("", "a\0b"),
        ("", "."),
    ],
)
def test_a_value_in_place_of_a_name_is_refused_and_not_repeated(token_env, token_file):
    with pytest.raises(RequestError, match="never taken") as caught:
        checked_source(token_env, token_file)
    assert (token_env or token_file) not in str(caught.value) or token_file == "."


def test_both_a_variable_and_a_file_are_refused(monkeypatch, token_file):
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    with pytest.raises(RequestError, match="not both"):
        checked_source("SHOP_TOKEN", str(token_file))


@pytest.mark.parametrize("name", sorted(SECRET_VARIABLES))
def test_no_agent_is_sent_a_secret_of_greenroom(monkeypatch, name):
    monkeypatch.setenv(name, TOKEN)
    with pytest.raises(RequestError, match="secret of Greenroom"):
        checked_source(name, "")


def test_the_secrets_of_greenroom_are_known_by_their_variables():
    assert {"AGENTBEATS_LLM_API_KEY", "GOOGLE_API_KEY", "GREENROOM_AUTH_TOKEN"} <= SECRET_VARIABLES


def test_a_token_that_is_gone_is_an_error_that_names_its_variable():
    with pytest.raises(PreflightError, match="SHOP_TOKEN"):
        TokenSource(token_env="SHOP_TOKEN").read("shop-bot")


async def test_a_registered_agent_is_evaluated_with_its_token_which_no_file_holds(
    tmp_path, monkeypatch, benchmarks, log
):
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    settings = Settings.load(results_dir=tmp_path / "results", offline=True)
    assembly = Assembly(settings=settings, benchmarks=benchmarks)
    with serve(log) as url:
        async with EvaluationTools(assembly) as tools:
            registered = await tools.register_agent("shop-bot", url, token_env="SHOP_TOKEN")
            assert registered["token_env"] == "SHOP_TOKEN"
            begun = await tools.run_evaluation("Evaluate shop-bot on one mock task")
            await tools.finished(begun["run_id"])
            results = await tools.get_evaluation_results(begun["run_id"])
            assert (results["state"], sent(log)) == ("complete", {f"Bearer {TOKEN}"})
            monkeypatch.delenv("SHOP_TOKEN")
            begun = await tools.run_evaluation("Evaluate shop-bot on one mock task")
            await tools.finished(begun["run_id"])
            status = await tools.get_evaluation_status(begun["run_id"])
    assert "SHOP_TOKEN" in status["problem"]
    everything = "".join(path.read_text() for path in tmp_path.rglob("*.*") if path.is_file())
    assert "SHOP_TOKEN" in everything
    assert TOKEN not in everything


async def test_where_callers_do_not_know_each_other_registered_agents_get_no_token(
    tmp_path, monkeypatch, benchmarks, log
):
    monkeypatch.setenv("SHOP_TOKEN", TOKEN)
    settings = Settings.load(results_dir=tmp_path, offline=True)
    with serve(log) as url:
        async with EvaluationTools(Assembly(settings=settings, benchmarks=benchmarks)) as tools:
            await tools.register_agent("shop-bot", url, token_env="SHOP_TOKEN")
        assert AgentRegistry(tmp_path).credentials() == {url: Credentials.of_bearer(TOKEN)}
        closed = Assembly(settings=settings, benchmarks=benchmarks, may_register=False)
        assert closed.secrets() == ()
        async with EvaluationTools(closed) as tools:
            begun = await tools.run_evaluation("Evaluate shop-bot on one mock task")
            await tools.finished(begun["run_id"])
    assert sent(log) == {None}
