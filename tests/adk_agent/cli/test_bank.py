"""banking_knowledge on the command line."""

import importlib.util
import json

import pytest
from starlette.applications import Starlette

from adk_agent.runs.store import load_report, load_trials
from tests.adk_agent.cli.test_config import run_ids
from tests.fakes import scripted_agent, serve
from tests.fakes.runtime import chat_model, embedding_model

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("inspect_evals") is None,
        reason="inspect-evals is not installed: install the extra `tau2` (`make setup` does)",
    ),
    # litellm and its aiohttp transport, as of litellm 1.106.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
    pytest.mark.filterwarnings("ignore:Item .* on TypedDict class:UserWarning"),
]
SEARCH = json.dumps({"name": "KB_search", "arguments": {"query": "changing an email"}})
REFUSAL = json.dumps({"name": "respond", "arguments": {"content": "I cannot help with that."}})


def reply(text, context_id):
    return REFUSAL if "   Score: " in text else SEARCH


def play(shell, agent, *flags):
    tasks = ("--domain", "banking_knowledge", "--task-ids", "task_004")
    return shell("run", "--agent", agent, *tasks, "--quiet", *flags)


@pytest.mark.slow
def test_documents_are_searched_with_the_model_that_is_named(shell, results_dir, monkeypatch):
    def letters(text):
        return [text.lower().count(each) + 1.0 for each in "aeiou"]

    def user(request):
        return "###STOP###" if "cannot help" in json.dumps(request["messages"]) else "Hello."

    models = Starlette(routes=[*chat_model(user).routes, *embedding_model(letters).routes])
    with serve(scripted_agent(reply)) as agent, serve(models) as model:
        monkeypatch.setenv("AGENTBEATS_LLM_BASE_URL", f"{model}/v1")
        flags = ("--option", "retrieval=embeddings_grep", "--embedding-model", "vectors")
        code, _, complaint = play(shell, agent, *flags)
    assert code == 0, complaint
    (run_id,) = run_ids(results_dir)
    assert load_report(results_dir, run_id).models["search"] == f"vectors at {model}/v1"
    [trial] = load_trials(results_dir, run_id)
    [result] = [each for each in trial.messages if each["role"] == "tool"]
    assert result["content"].count("   Score: ") == 10
    assert trial.row.total_tokens > 7  # the vectors of documents and query are paid for


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (("--option", "retrieval=alltools"), 2, "'alltools' cannot be played: agents get no shell"),
        (("--option", "retrieval=embeddings_grep"), 3, "offline, none is used: name one with"),
        (("--option", "solo=true"), 2, "cannot be played solo: its tasks need a user"),
    ],
)
def test_what_cannot_be_played_is_refused(shell, flags, code, said):
    found, _, complaint = play(shell, "null", "--offline", *flags)
    assert (found, said in complaint) == (code, True), complaint


def test_a_result_names_how_documents_were_found_and_another_way_does_not_compare(
    shell, results_dir
):
    for flags in ((), ("--option", "retrieval=no_knowledge")):
        assert play(shell, "null", "--offline", *flags)[0] == 0
    ids = run_ids(results_dir)
    reports = [load_report(results_dir, each) for each in ids]
    ways = {report.summary[0].data.revision.rpartition("retrieval ")[2] for report in reports}
    assert ways == {"bm25_grep", "no_knowledge"}
    _, shown, complaint = shell("compare", *ids)
    assert "retrieval no_knowledge" in shown + complaint
