"""Conversations over A2A where a language model reads: what it is asked, and what it is not."""

import json
import uuid

import pytest

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings
from adk_agent.service.server import build_service
from tests.adk_agent.service.conversations import Caller, row, state, words
from tests.fakes import closed_port, serve
from tests.fakes.runtime import chat_model

pytestmark = [
    pytest.mark.usefixtures("quick_start"),
    # litellm and its aiohttp transport, as of litellm 1.106; ADK's features that may change.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning"),
    pytest.mark.filterwarnings("ignore:.*EXPERIMENTAL.*:UserWarning"),
]

ODD = "Kindly let builtin:null have a whirl at whatever mock brings along"
"""What no rule has a word for."""


class Model:
    """Reads `ODD` as a large evaluation and all else as a wish to see failures; counts its calls."""

    def __init__(self):
        self.calls = 0

    def __call__(self, body):
        self.calls += 1
        said = str(body["messages"])
        if "a whirl" not in said:
            return json.dumps({"intent": "failures"})
        selection = {"domain": "mock"}
        draft = {"agents": [{"address": "builtin:null"}], "selections": [selection]}
        return json.dumps({"intent": "evaluate", **draft})


@pytest.fixture
def model(monkeypatch):
    reading = Model()
    with serve(chat_model(reading)) as url:
        monkeypatch.setenv("OPENAI_API_BASE", f"{url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing")
        yield reading


@pytest.fixture
def talk(benchmarks, tmp_path):
    settings = Settings.load(results_dir=tmp_path, agent_model="openai/tiny", confirm_above=3)
    assembly = Assembly(settings=settings, benchmarks=benchmarks, may_see_all_runs=False)
    with serve(build_service(assembly, card_url="http://127.0.0.1:1/").app) as url:
        yield Caller(url=url, context_id=str(uuid.uuid4()))


def test_what_a_model_reads_is_confirmed_by_a_word_that_no_model_reads(model, talk):
    asked = talk.say(ODD)
    assert state(asked) == "input_required", words(asked)
    assert "9 conversations" in words(asked)
    before = model.calls
    played = talk.say("yes")
    assert (played["id"], state(played)) == (asked["id"], "completed")
    assert row(played)["max_score_all"] == 9
    after = model.calls
    assert after - before <= 1  # the interpreter's words
    assert "is complete" in words(talk.say("status?"))
    assert "Nothing is running" in words(talk.say("cancel it"))
    assert model.calls == after


def test_a_program_is_read_by_no_model(model, talk):
    config = {"domain": "mock", "task_ids": ["create_task_1"]}
    request = json.dumps({"participants": {"agent": "builtin:null"}, "config": config})
    assert row(talk.say(request))["max_score_all"] == 1
    assert model.calls <= 1  # the interpreter's words
    nowhere = json.dumps({"participants": {"agent": "builtin:null"}, "config": {}})
    assert state(talk.say(nowhere)) == "rejected"
    assert model.calls <= 1


def test_without_the_model_rules_read_and_say_so(monkeypatch, talk):
    with closed_port() as dead:
        monkeypatch.setenv("OPENAI_API_BASE", f"{dead}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-nothing")
        told = talk.say("Please show me now which domains there are")
        assert state(told) == "completed"
        assert words(told).startswith("Warning: the language model")
        assert "| mock |" in words(told)
        played = talk.say("Evaluate builtin:null on one mock task")
        assert any("language model" in each for each in row(played)["warnings"])
        lost = talk.say("Evaluate builtin:null")
        assert state(lost) == "failed"
        assert "rules cannot read" in words(lost)
